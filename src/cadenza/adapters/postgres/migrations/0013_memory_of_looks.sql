-- What a brain remembers of an endpoint between looks: outages that fade, and extra runs spent.
ALTER TABLE looks ADD COLUMN memory jsonb;
