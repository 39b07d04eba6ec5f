"""Searchable help for the focused pane, and the menu of its keys. A click runs an action."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.dom import DOMNode
from textual.message import Message
from textual.reactive import reactive
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Input, Markdown

from hookscope.console.dialogs.base_dialogs import TALL_SCREEN, Overlay, holds_words
from hookscope.console.keymap.active_keys import (
    DEFAULT_KEYMAP,
    Keymap,
    active_keymap,
    key_hints,
    key_labels,
    scope_of,
    share_a_key,
    with_keys,
    with_keys_of,
)
from hookscope.console.keymap.available_actions import (
    AvailableAction,
    available_actions_of,
    can_act,
    focused_nodes,
    is_move,
    own_bindings,
)
from hookscope.console.keymap.key_listing import command_of
from hookscope.console.state.console_state import ConsoleState
from hookscope.console.theme.text_styles import FAINT, MUTED, Sheet, safe_paragraph
from hookscope.console.widgets.lines import FittedText, KeyScroll
from hookscope.manual import chapters

HELP_GAP = 2  # cells between two columns
ACTION_META = "action"  # the action of a line of help, in its style's meta
HOVER_STYLE = "on $panel"  # style under the pointer
LEAST_MEANING_WIDTH = 26  # cells; a narrower meaning is shown below its key


def help_sheet(
    about: str,
    nodes: Iterable[DOMNode],
    width: int,
    keymap: Keymap = DEFAULT_KEYMAP,
    under: str = "",
    typed: str = "",
) -> Content:
    """Return the paragraph, the pane's keys, the global keys, and the movement keys. No key is truncated.

    Args:
        under: the action whose lines are under the pointer.
        typed: only actions whose key, name, meaning or command contains each of these words.
    """
    sheet = Sheet(width)
    for paragraph in about.splitlines() if not typed.strip() else ():
        sheet.paragraph(safe_paragraph(paragraph))
    groups = [[one for one in own_bindings(node, keymap) if _fits(one, typed, keymap)] for node in nodes]
    last = [binding for group in groups for binding in group if is_move(binding)]
    groups = [*([binding for binding in group if not is_move(binding)] for group in groups), last]
    shown = {
        id(binding): "  ".join(key_labels(binding.key)) or "no key" for group in groups for binding in group
    }
    if not shown:
        if typed.strip():
            hint = "No action here matches. {console.palette} searches all actions."
            sheet.paragraph(Content(with_keys_of(keymap, hint)))
        return sheet.content()
    keys = max(Content(text).cell_length for text in shown.values()) + HELP_GAP
    names = max(len(binding.description) for group in groups for binding in group) + HELP_GAP
    for group in groups:
        if group:
            sheet.blank()
        above = ""
        for binding in group:
            heads = [
                (Content.styled(shown[id(binding)], "bold"), keys),
                (Content(binding.description), names),
            ]
            tooltip = with_keys_of(keymap, binding.tooltip or binding.description)
            meaning, command_text = Content.styled(tooltip, MUTED), command_of(binding.id or "")
            command = Content.styled(
                "" if command_text == above else command_text, FAINT
            )  # shown once for equal commands in a row
            above = command_text
            clicked = Style.from_meta({ACTION_META: binding.id})
            lines = Sheet(width)
            wide = lines.width - 1 - keys - names >= LEAST_MEANING_WIDTH
            heads = heads if wide else heads[:1]
            room = lines.width - 1 - sum(cells for _, cells in heads)
            fits_beside = meaning.cell_length + HELP_GAP + 1 + command.cell_length <= room
            if command and fits_beside:
                meaning = Content.assemble(meaning, " " * (HELP_GAP + 1), command)
            lines.put(heads, meaning, 1)
            if command and not fits_beside:  # on its own line, so that it can be copied whole
                lines.put([(Content(), cells) for _, cells in heads], command, 1)
            sheet.add(lines, clicked, HOVER_STYLE if binding.id == under else "")
    return sheet.content()


def _fits(binding: Binding, typed: str, keymap: Keymap) -> bool:
    tooltip = with_keys_of(keymap, binding.tooltip)
    words = (*key_labels(binding.key), binding.description, tooltip, command_of(binding.id or ""))
    return holds_words(" ".join(words), typed)


def about_of(widget: Widget) -> str:
    """Return the help paragraph of the nearest pane that has one."""
    for node in widget.ancestors_with_self:
        text = getattr(node, "HELP", None)
        if text:
            return with_keys(str(text))
    return ""


class HelpSheet(FittedText):
    """The lines of help. A click on a line runs its action in the pane where help was opened."""

    class ActionClicked(Message):
        """An action was clicked."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    under: reactive[str] = reactive("", init=False)

    def __init__(self, make: Callable[[str, int], Content]) -> None:
        """`make` returns the lines for the action under the pointer, and a width."""
        super().__init__(lambda width: make(self.under, width), id="help-sheet")

    def watch_under(self) -> None:
        self.rebuild()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self.under = event.style.meta.get(ACTION_META, "")

    def on_leave(self) -> None:
        self.under = ""

    def on_click(self, event: events.Click) -> None:
        if action := event.style.meta.get(ACTION_META):
            event.stop()
            self.post_message(self.ActionClicked(action))


class ActionsOverlay(Overlay[AvailableAction | None]):
    """Actions of the screen below. Answers with the chosen one."""

    def __init__(self, screen: Screen[Any]) -> None:
        """`screen`: the screen below."""
        super().__init__()
        self.nodes = focused_nodes(screen)

    def on_help_sheet_action_clicked(self, event: HelpSheet.ActionClicked) -> None:
        keymap = active_keymap()
        self.dismiss(
            next(action for action in available_actions_of(self.nodes, keymap) if action.id == event.action)
        )


class HelpScreen(ActionsOverlay):
    """An overlay with the help. Typing searches the actions; enter then runs the first match."""

    HAS_HELP = False
    AUTO_FOCUS = "Input"
    DEFAULT_CSS = "HelpScreen Input { margin: 0 0 1 0; }"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Close", id="help.close", tooltip="Clear the search, then close"),
        Binding(
            "ctrl+k",
            "app.change_key",
            "Change key",
            show=False,
            priority=True,
            id="help.change_key",
            tooltip="Choose one of the matches, and press its new key",
        ),
        *(
            Binding(key, f"scroll('{name}')", show=False, priority=True, id=f"help.{name}", tooltip=tooltip)
            for key, name, tooltip in (
                ("up", "up", "A line up"),
                ("down", "down", "A line down"),
                ("pageup", "page_up", "A page up"),
                ("pagedown", "page_down", "A page down"),
                ("home", "first", "Go to the beginning"),
                ("end", "last", "Go to the end"),
            )
        ),
    ]

    def __init__(self, screen: Screen[Any]) -> None:
        super().__init__(screen)
        self.about = about_of(screen.focused or screen)

    def compose(self) -> ComposeResult:
        with Vertical(id="help") as box:
            box.border_title = "Help   click to run"
            box.border_subtitle = key_hints(
                ("app.help", "manual"), ("help.change_key", "change a key"), ("help.close", "close")
            )
            yield Input(placeholder="type to search", compact=True)
            with KeyScroll(can_focus=False):
                yield HelpSheet(self._sheet)

    def _sheet(self, under: str, width: int) -> Content:
        typed = self.query_one(Input).value
        return help_sheet(self.about, self.nodes, width, active_keymap(), under, typed)

    @on(Input.Changed)
    def _search(self, event: Input.Changed) -> None:
        event.stop()
        self.query_one(HelpSheet).rebuild(layout=True)
        self.query_one(KeyScroll).scroll_home(animate=False)

    @on(Input.Submitted)
    def _run(self, event: Input.Submitted) -> None:
        event.stop()
        keymap = active_keymap()
        found = (
            action
            for action in available_actions_of(self.nodes, keymap)
            if _fits(action.binding, event.value, keymap)
        )
        self.dismiss(next(found, None) if event.value.strip() else None)

    def action_back(self) -> None:
        field = self.query_one(Input)
        if field.value:
            field.value = ""
        else:
            self.dismiss(None)

    def action_scroll(self, way: str) -> None:
        box = self.query_one(KeyScroll)
        getattr(box, {"first": "scroll_home", "last": "scroll_end"}.get(way, f"scroll_{way}"))(animate=False)


# Scope → topic of its chapter in the manual; the chapter about the console has the others.
TOPICS = {
    **dict.fromkeys(("hooks", "list", "filter", "why"), "why"),
    **dict.fromkeys(
        ("fire", "composer", "editor", "form", "run", "waterfall", "plan", "otherwise"), "firing"
    ),
    **dict.fromkeys(("log", "log filter", "session", "repeated"), "log"),
    **dict.fromkeys(("hosts", "chooser", "verify", "verification"), "hosts"),
    **dict.fromkeys(("packs", "spec", "plan of a pack"), "packs"),
    **dict.fromkeys(("saved", "environment", "beside", "fuzzed"), "testing"),
    **dict.fromkeys(("new", "choice"), "write"),
    **dict.fromkeys(("edit", "fixes"), "lint"),
    **dict.fromkeys(("actions", "newkey"), "keys"),
    **{"whatif": "what-if", "trust": "trust", "debug": "debugging", "tap": "tap", "workers": "workers"},
}


def topic_of(nodes: Iterable[DOMNode]) -> str:
    """Return the topic of the manual's chapter about the nearest of these nodes that has one."""
    scopes = (scope_of(binding.id or "").name for node in nodes for binding in own_bindings(node)[:1])
    return next((TOPICS[scope] for scope in scopes if scope in TOPICS), "console")


CODE_BLOCK = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
END_COMMENT = re.compile(r"^( *)(\S.*?) {2,}(# .*)$", re.MULTILINE)
MANUAL_WIDTH, BESIDE_CODE = 100, 12  # cells of the manual, and those that its code cannot use


def readable_code(chapter: str, width: int) -> str:
    """Return a chapter; in code blocks with longer lines, comments are above their lines."""

    def moved(block: re.Match[str]) -> str:
        fits = max(map(len, block[0].splitlines())) <= width
        return block[0] if fits else END_COMMENT.sub(r"\1\3\n\1\2", block[0])

    return CODE_BLOCK.sub(moved, chapter)


class ManualScreen(Overlay[None]):
    """One chapter of the manual, with keys to the chapters before and after it."""

    HAS_HELP = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,number_sign", "dismiss(None)", "Close", id="manual.close", tooltip="Back"),
        Binding("left_square_bracket", "turn(-1)", "Before", id="manual.older", tooltip="Previous chapter"),
        Binding("right_square_bracket", "turn(1)", "After", id="manual.newer", tooltip="Next chapter"),
    ]
    DEFAULT_CSS = """
    ManualScreen {
        & > KeyScroll {
            width: 100%; max-width: 100; height: 100%; scrollbar-gutter: stable; scrollbar-size-vertical: 1;
        }
        & Markdown { background: transparent; padding: 0 1 0 0; }
        & MarkdownFence > Label { width: 1fr; padding: 1 2; }
        & MarkdownH2 { color: $foreground; text-style: bold; margin: 1 0; }
    }
    """

    def __init__(self, topic: str) -> None:
        super().__init__()
        self._at = [*chapters()].index(topic)

    def compose(self) -> ComposeResult:
        with KeyScroll() as box:
            box.border_subtitle = key_hints(
                ("manual.older", "before"), ("manual.newer", "after"), ("manual.close", "close")
            )
            yield Markdown(open_links=False)

    async def on_mount(self) -> None:
        await self.action_turn(0)

    async def action_turn(self, by: int) -> None:
        """Go `by` chapters forward; after the last chapter comes the first."""
        found = [*chapters().values()]
        self._at = (self._at + by) % len(found)
        box, chapter = self.query_one(KeyScroll), found[self._at]
        box.border_title = Content.assemble(chapter.title, (f"   {self._at + 1} of {len(found)}", MUTED))
        width = min(self.app.size.width, MANUAL_WIDTH) - BESIDE_CODE
        await self.query_one(Markdown).update(readable_code(chapter.text, width))
        box.scroll_home(animate=False)


MENU_COLUMN = 24  # cells of an action in the menu
ALWAYS_SHOWN = frozenset(
    f"console.{name}"
    for name in ("hooks", "fire", "log", "hosts", "fire_composed", "next", "previous", "back", "help", "quit")
)  # the tabs and the key bar name them; the menu takes their keys too


class MenuScreen(ActionsOverlay):
    """The keys that work below, at the bottom of the screen; each of them runs its action."""

    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    MenuScreen {
        align: center bottom;
        & > Vertical { width: 100%; max-height: 100%; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", id="menu.leave", tooltip="Back"),
        Binding("m,f9", "dismiss(None)", "Close", show=False, id="menu.menu", tooltip="Back"),
    ]

    def __init__(self, screen: Screen[Any], state: ConsoleState) -> None:
        """`state`: the panes' state; actions that it makes unavailable are omitted."""
        super().__init__(screen)
        self._state = state

    @property
    def actions(self) -> list[AvailableAction]:
        """The actions that can be run now."""
        return [
            action
            for action in available_actions_of(self.nodes, active_keymap())
            if not is_move(action.binding)
            and key_labels(action.binding.key)
            and action.binding.action != "menu"
            and not share_a_key(action.id, "menu.leave")  # its key would close the menu
            and action.node is not self.app  # the panes have its actions under their own ids
            and can_act(action.binding, action.node, self._state)
        ]

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Menu   press a key, or click"
            box.border_subtitle = key_hints(("menu.leave", "close"))
            yield HelpSheet(self._sheet)

    def _sheet(self, under: str, width: int) -> Content:
        """Return the actions in columns, under the name of their place."""
        sheet, columns = Sheet(width), max(1, width // MENU_COLUMN)
        actions = [action for action in self.actions if action.id not in ALWAYS_SHOWN]
        for scope in dict.fromkeys(scope_of(action.id).title for action in actions):
            here = [action for action in actions if scope_of(action.id).title == scope]
            if self.app.size.height >= TALL_SCREEN:
                sheet.blank()
            sheet.paragraph(Content.styled(scope[:1].upper() + scope[1:], "bold"))
            for start in range(0, len(here), columns):
                sheet.paragraph(
                    Content().join(self._entry(one, under) for one in here[start : start + columns]), 1
                )
        return sheet.content()

    @staticmethod
    def _entry(action: AvailableAction, under: str) -> Content:
        key = key_labels(action.binding.key)[0]
        text = Content.assemble((f"{key:>6}", "bold"), "  ", action.binding.description)
        hover = HOVER_STYLE if action.id == under else ""
        entry = text.truncate(MENU_COLUMN - 1, ellipsis=True, pad=True)
        return Content.assemble(entry.stylize(Style.from_meta({ACTION_META: action.id})).stylize(hover), " ")

    def on_key(self, event: events.Key) -> None:
        if event.key in self.active_bindings:
            return
        event.stop()
        pressed = (one for one in self.actions if event.key in one.binding.key.split(","))
        action = next(pressed, None)
        if action is not None:
            self.dismiss(action)
        else:
            self.app.notify(
                with_keys("This key does nothing here; {menu.leave} closes the menu."), markup=False
            )
