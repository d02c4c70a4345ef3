-- For this transaction: rows are found by their keys. A day of runs grows from nothing to millions
-- within hours, and a plan that scanned it while it was small would be kept while it is not.
SET LOCAL enable_seqscan = off;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off
