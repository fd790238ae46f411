-- One row of the same size in a table with nothing but a primary key.
\set n random(1, 9000000000000000)
INSERT INTO bench_bare (id, body) VALUES (gen_random_uuid(), convert_to(:body::text, 'UTF8'));
