"""A crontab into jobs: what cron would do is done exactly, or it is said that it is not."""
