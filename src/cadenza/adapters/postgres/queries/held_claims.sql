FROM unnest($1::uuid[], $2::bigint[], $3::uuid[]) AS claim (endpoint_id, epoch, run_id)
    JOIN endpoints AS e
        ON e.id = claim.endpoint_id
       AND e.lease_epoch = claim.epoch
       AND e.running_run_id = claim.run_id
    -- in one order everywhere, so that no two transactions wait for each other in a circle
    ORDER BY e.id
    FOR UPDATE OF e
