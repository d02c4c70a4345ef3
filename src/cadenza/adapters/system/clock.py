from datetime import UTC, datetime


def wall_clock() -> datetime:
    """What this machine thinks the time is; only good for comparing with the database's."""
    return datetime.now(UTC)
