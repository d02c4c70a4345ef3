-- Remember that an endpoint was looked at; idle looks are only counted.
UPDATE endpoints
SET looked_at = $2, next_analysis_at = $3, last_reasoning = $4,
    idle_looks = idle_looks + CASE WHEN $5 THEN 0 ELSE 1 END
WHERE id = $1
