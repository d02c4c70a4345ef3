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

-- Whether a run that did not end well has this in its error, and this status.
CREATE FUNCTION has_ended_with(of_endpoint uuid, at_slot timestamptz, error text, code integer)
RETURNS boolean
LANGUAGE sql STABLE
AS $$
SELECT EXISTS (
    SELECT FROM runs AS r
    WHERE r.endpoint_id = of_endpoint AND r.slot_at = at_slot
      AND (error IS NULL OR r.error_message ILIKE error OR r.error_kind ILIKE error)
      AND (code IS NULL OR r.status_code = code)
)
$$;
