"""Dates as specs write them: `2026-11-30`."""

from __future__ import annotations

import datetime as dt
import re


def parse_date(text: str) -> dt.date:
    """A day of the calendar, as YYYY-MM-DD.

    Raises: ValueError, one sentence with the value and what to write instead.
    """
    if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text, re.ASCII):
        try:
            return dt.date(*map(int, text.split("-")))
        except ValueError:
            raise ValueError(f'"{text}" is not a date: the calendar has no such day') from None
    raise ValueError(f'"{text[:60]}" is not a date: write year, month and day, as in 2026-11-30')
