-- What happened in the last seconds is found by index; everything is better read as a whole.
SELECT set_config('plan_cache_mode', 'force_custom_plan', true)
