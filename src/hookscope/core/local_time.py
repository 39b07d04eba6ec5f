"""Moments in the time zone of this machine. Every conversion to local time goes through here."""

from datetime import UTC, datetime


def in_local_time(moment: datetime) -> datetime:
    """Return the moment in this machine's time zone, and in UTC where Python cannot represent that.

    `TZ=UTC-26` is such a zone: Python knows offsets of less than a day. A moment without a zone counts as
    local time.
    """
    try:
        return moment.astimezone()
    except (ValueError, OverflowError, OSError):
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def local_now() -> datetime:
    """Return the present moment in local time, without its zone."""
    return in_local_time(datetime.now(UTC)).replace(tzinfo=None)
