-- How many workers of each kind have been seen within a while.
SELECT kind, count(*) AS count
FROM workers
WHERE seen_at > cadenza_now() - $1::interval
GROUP BY kind
