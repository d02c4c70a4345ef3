"""Notifications through apprise: Slack, mail, Teams, PagerDuty and a hundred more."""
