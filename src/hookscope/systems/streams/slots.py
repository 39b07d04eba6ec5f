"""The folders of an agent that hold modules, with the host's words for what is wrong in them.

The sentences are recorded in eve 04 to 07 for hooks; those of tools and channels are read from the program.
"""

import re

from hookscope.systems.streams.sources import Slot

NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,63}")
CHANNEL = re.compile(r"\.?[a-z][a-z0-9-]{0,63}|\[[a-zA-Z][a-zA-Z0-9_]{0,63}\]")
CONNECTION = re.compile(r"[a-z][a-z0-9-]{0,63}")
RULE = (
    "Expected ASCII letters, digits, underscores, and dashes only, "
    "starting with a letter, up to 64 characters."
)

HOOKS = Slot(
    folder="hooks",
    pattern=NAME,
    name_code="discover/hook-name-invalid",
    name_text=f'Hook path segment "{{name}}" is not a legal hook name. {RULE}',
    folder_code="discover/hooks-directory-invalid",
    folder_text='Expected "{folder}" to be a directory of authored hooks.',
)
TOOLS = Slot(
    folder="tools",
    pattern=NAME,
    name_code="discover/tool-name-invalid",
    name_text=f'Tool filename "{{name}}" is not a legal tool name. {RULE}',
    folder_code="discover/tools-directory-invalid",
    folder_text='Expected "{folder}" to be a directory of authored tools.',
)
CHANNELS = Slot(
    folder="channels",
    pattern=CHANNEL,
    name_code="discover/channel-name-invalid",
    name_text='Channel path segment "{name}" is not a legal channel name. Expected lowercase kebab-case '
    "(`my-channel`), optionally with a leading dot (`.well-known`), or a path parameter form "
    "(`[sessionId]`).",
    folder_code="discover/channels-directory-invalid",
    folder_text='Expected "{folder}" to be a directory of authored channels.',
)
