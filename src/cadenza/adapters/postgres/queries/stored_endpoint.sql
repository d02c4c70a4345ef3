cadenza_now() AS now, {endpoint_columns}, e.plan, e.target, e.secret_headers, e.revision,
(SELECT job.name FROM jobs AS job WHERE job.id = e.job_id) AS job_name
