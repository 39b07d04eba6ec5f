"""Regular expressions that are compiled when they are first used.

A command uses a few of the hundred that its modules name; compiling them all took a twelfth of what a short
command takes.
"""

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    pattern = re.compile
else:

    def pattern(text: str, flags: int = 0) -> "_Unread":
        """What `re.compile` makes, to whoever uses it: its methods, `pattern` and `flags`.

        A text that is no regular expression raises `re.error` at its first use; a test uses them all.
        """
        return _Unread(text, flags)


class _Unread:
    """A pattern that becomes a compiled one's members as soon as one of them is asked for."""

    def __init__(self, text: str, flags: int) -> None:
        self.pattern = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # copies and pickles ask for what no pattern has
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        vars(self).update({member: getattr(compiled, member) for member in _MEMBERS})
        return getattr(compiled, name)


_MEMBERS = tuple(name for name in dir(re.Pattern) if not name.startswith("_"))
