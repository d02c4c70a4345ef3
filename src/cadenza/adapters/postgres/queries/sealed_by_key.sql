-- How many sealed values need each master key.
SELECT split_part(sealed, ':', 2) AS key_id, count(*) AS held
FROM (
    SELECT header.value AS sealed
    FROM endpoints AS e, jsonb_each_text(e.secret_headers) AS header
    UNION ALL
    SELECT secret FROM signing_keys
) AS every
GROUP BY key_id
ORDER BY key_id
