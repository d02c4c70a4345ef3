cadenza_now() AS now, {endpoint_columns}, e.target, e.secret_headers, e.revision,
e.next_run_at, e.next_source,
(SELECT job.name FROM jobs AS job WHERE job.id = e.job_id) AS job_name
