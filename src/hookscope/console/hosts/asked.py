"""What the Hosts pane asks for. Data only, for a screen that has made no such pane yet."""

from textual.message import Message


class HostsAsked(Message):
    """Something that takes a thread or a run: choose, compare again, fire, cancel."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what
