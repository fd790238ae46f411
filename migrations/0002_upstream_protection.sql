-- While nothing may be sent to Cleeng, what waits to be sent stays due and stays where it is; what waits to be read goes on,
-- and the other way round. So workers look for the two apart, and neither look may pass over the rows of the other.
--
-- Dropped first: it takes the stronger lock. A version that still runs and asks by `due_at` alone finds the same rows by the
-- new index, and has to sort them.
DROP INDEX pursuits_due;
CREATE INDEX pursuits_due_by_phase ON pursuits (phase, due_at);

-- When the route that the state speaks of was last called. A copy that has had nothing to send since a failure cannot know
-- that the upstream is well by now.
ALTER TABLE instances ADD COLUMN upstream_asked_at timestamptz;
