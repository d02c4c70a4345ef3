-- A suggestion that a person dismissed is not shown any more, and the planner does not make it again
-- while it would have been open. Undoing that is to take the mark away.
CREATE FUNCTION is_open_suggestion(call jsonb, now timestamptz) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT (call ->> 'open_until')::timestamptz > now
   AND call ->> 'suggested' = 'true'
   AND call ->> 'accepted_by' IS NULL
$$;

CREATE OR REPLACE FUNCTION can_be_accepted(call jsonb, now timestamptz) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT is_open_suggestion(call, now) AND call ->> 'dismissed_by' IS NULL
$$;

-- What a run sent is put together again from the target, if that has not changed since.
ALTER TABLE endpoints ADD COLUMN target_changed_at timestamptz;

-- How a worker is, beside that it lives.
ALTER TABLE workers
    ADD COLUMN version text NOT NULL DEFAULT '',
    ADD COLUMN in_flight integer,
    ADD COLUMN capacity integer;
