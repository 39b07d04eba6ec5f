"""The base class of messages to the main screen."""

from __future__ import annotations

from textual.message import Message


class ConsoleMessage(Message):
    """A message that the main screen routes to a controller."""
