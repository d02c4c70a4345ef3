-- The endpoints whose claims are still held, with everything that a plan depends on.
SELECT cadenza_now() AS now, {endpoint_columns}, e.plan, e.running_attempt
{held_claims}
