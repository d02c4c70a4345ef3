"""A crontab into jobs: what cron would do is done exactly, or a note says that it is not."""
