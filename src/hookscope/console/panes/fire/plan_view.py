"""The plan: handlers that would run, in order, and hooks that would not, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from textual.binding import Binding, BindingType
from textual.content import Content

from hookscope.app.trust_requests import topmost_targets, waiting_for_trust
from hookscope.console.keymap.active_keys import key_of
from hookscope.console.state.messages import TrustRequested, WhyRequested
from hookscope.console.theme.text_styles import (
    MARK_MUTED,
    STATE_STYLES,
    counted,
    fixed_width,
    safe_word,
    word_width,
)
from hookscope.console.widgets.lines import LineList
from hookscope.model.hook import Hook
from hookscope.model.hook_status import State
from hookscope.model.run import Code, NotRun, Plan, Registration
from hookscope.model.trust import TrustTarget, trust_target
from hookscope.model.uncalled_hooks import not_called_reason, split_listed
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot

WIDEST_COLUMN = 26
EXPORTED_WIDTH = 120  # cells of a line in an exported plan


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A line: a sign or number, a name, and details."""

    lead: str
    name: str
    detail: str
    style: str = ""  # style of the sign
    quiet: bool = False
    folds: bool = False


PlanItem: TypeAlias = Registration | NotRun | PlanRow


def plan_items(plan: Plan | None, problem: str, unfolded: bool) -> tuple[PlanItem, ...]:
    """Return the lines of the plan: handlers that are called, hooks that are not, and notes."""
    if plan is None:
        return (
            PlanRow("✗" if problem else "–", "", safe_word(problem, 300) or "no event yet", "$text-error"),
        )
    items: list[PlanItem] = [*plan.calls]
    if not items:
        items.append(PlanRow("–", "", nothing_runs_text(plan), "$text-warning"))
    listed, others = split_listed(plan.not_run)
    items += [*listed, *(others if unfolded else ())]
    if others:
        verb = "subscribes" if len(others) == 1 else "subscribe"
        text = (
            f"{key_of('plan.others')} folds these"
            if unfolded
            else f"{counted(len(others), 'other')} {verb} to other events   "
            f"{key_of('plan.others')} lists them"
        )
        items.append(PlanRow("–", "", text, MARK_MUTED, quiet=True, folds=True))
    return tuple(items)


def nothing_runs_text(plan: Plan) -> str:
    """Return why no handler would run, in one line."""
    listeners = [item for item in plan.not_run if item.subscribed]
    if not listeners:
        return f"nothing would run: no hook subscribes to {safe_word(plan.event.key, 60)}"
    if len(listeners) == 1:
        return f"nothing would run: {safe_word(listeners[0].name, 40)} is subscribed, but blocked"
    return f"nothing would run: {len(listeners)} hooks are subscribed, but all are blocked"


def plan_summary(plan: Plan | None) -> str:
    """Return the plan in a few words, for the border."""
    if plan is None:
        return "no plan"
    stopped = sum([item.subscribed for item in plan.not_run])
    text = f"{len(plan.calls)} would run"
    return f"{text} · {stopped} would not" if stopped else text


def untrusted_folders(plan: Plan | None, view: Snapshot | None) -> tuple[TrustTarget, ...]:
    """Return the folders that must be trusted before subscribed hooks can run."""
    if plan is None or view is None:
        return ()
    hooks = [item.hook for item in plan.not_run if item.hook is not None and item.subscribed]
    waiting = [hook for hook in hooks if hook_state(hook, view) is State.UNTRUSTED]
    own = tuple(dict.fromkeys(trust_target(hook, view.host) for hook in waiting))
    return topmost_targets((*own, *waiting_for_trust(view, plan))) if view.untrusted_programs else own


def hook_state(hook: Hook | None, view: Snapshot | None) -> State | None:
    """Return a hook's state in this snapshot; None if the snapshot does not contain the hook."""
    if hook is None or view is None:
        return None
    row = view.status_of(hook)
    return row.state if row is not None else None


def _call_row(number: int, call: Registration, plan: Plan, view: Snapshot | None, keys: int) -> PlanRow:
    """Return the row of a call. `keys`: the width of the column of keys other than the event's."""
    key = safe_word(call.key, 60) if call.key != plan.event.key else ""
    parts = [key + " " * (keys - word_width(key))] if keys else []
    if call.priority:
        parts.append(f"priority {call.priority:<3}")
    if any(call in group.calls and group.concurrent and len(group.calls) > 1 for group in plan.groups):
        parts.append("concurrent")
    if isinstance(call.target, Code):
        target = call.target
        inside = target.path.is_relative_to(target.root.parent)
        parts.append(safe_word(str(target.path.relative_to(target.root.parent) if inside else target.path)))
    else:
        parts.append("registered by code")
    if call in plan.forced:
        parts.append("forced")
    failed = view.failed_load(call) if view is not None else None
    if failed is not None:
        parts.insert(0, safe_word(failed.why, 300))
    return PlanRow(str(number), safe_word(call.name), "  ".join(parts))


def _not_run_row(not_run: NotRun, view: Snapshot | None) -> PlanRow:
    state = hook_state(not_run.hook, view)
    glyph, style = (
        ("–", MARK_MUTED)
        if state in (None, State.READY)
        else (STATE_STYLES[state].glyph, STATE_STYLES[state].style)
    )
    reason = safe_word(not_called_reason(not_run), 300)
    if state is State.UNTRUSTED and not_run.subscribed and not_run.hook is not None and view is not None:
        target = trust_target(not_run.hook, view.host)
        folder = safe_word(view.host.machine.short(target.folder), 200)
        reason = f"untrusted   press {key_of('plan.trust')} to trust {folder}"
        if target.refusal_reason:
            reason = f"untrusted   {folder} is too broad to trust: {target.refusal_reason}"
    return PlanRow(glyph, safe_word(not_run.name), reason, style, quiet=not not_run.subscribed)


def _plan_row(index: int, item: PlanItem, plan: Plan | None, view: Snapshot | None, keys: int) -> PlanRow:
    if isinstance(item, PlanRow):
        return item
    if isinstance(item, NotRun):
        return _not_run_row(item, view)
    assert plan is not None
    return _call_row(index + 1, item, plan, view, keys)


def _plan_line(row: PlanRow, names: int, width: int) -> Content:
    """Return the line of a row. `names`: the width of the column of names, if there is room."""
    lead = Content.styled(f"{row.lead:>2}  ", row.style or MARK_MUTED)
    if not row.name:
        return lead + Content.styled(row.detail, MARK_MUTED if row.quiet else row.style)
    # A call's details are muted; a reason is not, because readers look for it.
    detail = Content.styled(row.detail, MARK_MUTED if row.quiet or row.lead.isdigit() else "")
    name = fixed_width(row.name, min(names, max(16, width * 2 // 5)), MARK_MUTED if row.quiet else "")
    return lead + name + Content("  ") + detail


def _plan_text(
    items: Sequence[PlanItem], plan: Plan | None, view: Snapshot | None, names: int, keys: int
) -> str:
    rows = (_plan_row(index, item, plan, view, keys) for index, item in enumerate(items))
    return "".join(f"{_plan_line(row, names, EXPORTED_WIDTH).plain.rstrip()}\n" for row in rows)


class PlanView(LineList):
    """Shows the plan, unfolds it, and requests trust."""

    ALLOW_MAXIMIZE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        *LineList.BINDINGS,
        Binding(
            "t", "trust_folders", "Trust", id="plan.trust", tooltip="Trust the folders of subscribed hooks"
        ),
        Binding("full_stop", "unfold", "Others", id="plan.others", tooltip="List hooks with other events"),
    ]
    DEFAULT_CSS = """
    PlanView {
        border: round $border-blurred;
        border-title-color: $foreground;
        border-title-style: none;
        border-subtitle-align: left;
        border-subtitle-color: $text-muted;
        padding: 0;
        &:focus { border: heavy $border; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self._plan: Plan | None = None
        self._problem = ""
        self._view: Snapshot | None = None
        self._unfolded = False
        self._items: tuple[PlanItem, ...] = ()
        self._width = 8
        self._keys = 0
        self._folders: tuple[TrustTarget, ...] | None = None

    def on_mount(self) -> None:
        self.border_title = Content("Plan")

    @property
    def line_count(self) -> int:
        return len(self._items)

    def show(self, plan: Plan | None, problem: str, view: Snapshot | None) -> None:
        """Show this plan, or why there is none."""
        self._plan, self._problem, self._view = plan, problem, view
        self._folders = None
        self.border_title = Content(f"Plan   {plan_summary(plan)}")
        self._draw()

    def _draw(self) -> None:
        self._items = plan_items(self._plan, self._problem, self._unfolded)
        names = [0 if isinstance(item, PlanRow) else word_width(item.name) for item in self._items]
        self._width = min(max(names, default=8), WIDEST_COLUMN)
        calls = self._plan.calls if self._plan is not None else ()
        own = self._plan.event.key if self._plan is not None else ""
        keys = [word_width(call.key) for call in calls if call.key != own]
        self._keys = min(max(keys, default=0), WIDEST_COLUMN)
        self.lines_changed()

    def _row(self, index: int) -> PlanRow:
        """Return the content of one line. There may be thousands, so only visible ones are created."""
        return _plan_row(index, self._items[index], self._plan, self._view, self._keys)

    def line_at(self, index: int, width: int) -> Content:
        return _plan_line(self._row(index), self._width, width)

    def as_drawn(self) -> Callable[[], str]:
        """Return a function that returns the current lines as plain text, and may run in any thread."""
        return partial(_plan_text, self._items, self._plan, self._view, self._width, self._keys)

    def action_choose(self) -> None:
        """Show why the hook of this line runs or not; on the last line, list or hide the other hooks."""
        item = self._items[self.cursor] if self._items else None
        if isinstance(item, PlanRow) and item.folds:
            self.action_unfold()
        elif isinstance(item, Registration | NotRun) and item.hook is not None and self._plan is not None:
            self.post_message(WhyRequested(item.hook, self._plan.event.key))
        else:
            super().action_choose()

    def action_unfold(self) -> None:
        if problem := self.cannot("unfold"):
            self.app.notify(problem, markup=False)
            return
        self._unfolded = not self._unfolded
        self._draw()

    @property
    def _waiting(self) -> tuple[TrustTarget, ...]:
        """The folders that subscribed hooks need; computed once per plan, on first use."""
        if self._folders is None:
            self._folders = untrusted_folders(self._plan, self._view)
        return self._folders

    def cannot(self, action: str) -> str:
        """Return why an action would have no effect now; empty if it would have one."""
        if action == "trust_folders" and not self._waiting:
            return "No subscribed hook needs trust."
        others = self._plan is not None and split_listed(self._plan.not_run)[1]
        return "" if action != "unfold" or others else "There are no hooks with other events."

    def action_trust_folders(self) -> None:
        if self._waiting:
            self.post_message(TrustRequested(self._waiting))
        else:
            self.app.notify(self.cannot("trust_folders"), markup=False)
