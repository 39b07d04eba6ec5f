"""The base class of messages to the main screen."""

from textual.message import Message


class ConsoleMessage(Message):
    """A message that the main screen routes to a controller."""
