-- What Amazon's notifications need. This service's subscriptions to topics by which stores send notifications: a new one stays silent until
-- somebody confirms it.
--
-- Safe for the version before: it knows neither the table nor the column.

-- `state`: 1 nobody has confirmed it, 2 confirmed, 3 ended. `said_at`: when the message was sent that says so. `bucket`, `accepted_on` and `notification` name
-- the newest message by which it can be confirmed; null where none came.
CREATE TABLE topic_subscriptions (
    bucket       smallint,
    state        smallint    NOT NULL CHECK (state IN (1, 2, 3)),
    said_at      timestamptz NOT NULL,
    accepted_on  date,
    notification uuid,
    publisher    text        NOT NULL,
    store        text        NOT NULL,
    topic        text        PRIMARY KEY
);

-- The purchase that this one has taken the place of, where its store's notification said so.
ALTER TABLE store_questions ADD COLUMN replaces text;
