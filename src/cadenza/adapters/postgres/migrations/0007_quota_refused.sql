-- Since when sessions are refused for want of quota, so that a tenant can see why none is held.
ALTER TABLE quotas ADD COLUMN refused_at timestamptz;
