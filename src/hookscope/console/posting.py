"""Words from threads and tasks to the screen."""

from contextlib import suppress

from textual.message import Message
from textual.message_pump import MessagePump


def post(screen: MessagePump, message: Message) -> None:
    """Safe from any thread; nobody listens any more once the screen is gone."""
    with suppress(RuntimeError):  # the event loop is closed: the program ends
        screen.post_message(message)


def said(error: BaseException | None) -> str:
    """What went wrong, for people."""
    return str(error) or type(error).__name__
