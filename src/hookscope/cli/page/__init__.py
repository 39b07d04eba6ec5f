"""One run as a page of HTML: whole in one file, without script and without anything from outside.

Every foreign text passes `parts.safe`: no control characters, and nothing of it is markup.
"""

from hookscope.cli.page.page import page_of

__all__ = ["page_of"]
