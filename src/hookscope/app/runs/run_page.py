"""One run as an HTML page: one file without scripts; all text from the run is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from html import escape
from typing import TYPE_CHECKING, Any

from hookscope.model.run import unchanged_summary
from hookscope.model.text import duration, printable

if TYPE_CHECKING:
    from hookscope.storage.journal.reader import StoredRun

COMPARED_LINE_LIMIT = 3_000  # lines of a value to compare


def escape_text(value: object) -> str:
    """Return text without control characters and markup. All text from the run passes through here."""
    return escape(printable(str(value)))


def code_html(value: object) -> str:
    """Return a value as code, escaped."""
    return f"<code>{escape_text(value)}</code>"


def text_block(text: str) -> str:
    """Return a preformatted block; empty for an empty text."""
    return f"<pre>{escape_text(text)}</pre>" if text else ""


def section_html(title: str, *inner: str) -> str:
    """Return a section; empty without content."""
    content = "".join(inner)
    return f"<section><h2>{escape_text(title)}</h2>{content}</section>\n" if content else ""


def article_part(title: str, *inner: str) -> str:
    """Return a part of an article; empty without content."""
    content = "".join(inner)
    return f"<h4>{escape_text(title)}</h4>{content}" if content else ""


def text_list(items: Iterable[str]) -> str:
    """Return an HTML list of strings from the run."""
    content = "".join(f"<li>{escape_text(item)}</li>" for item in items)
    return f"<ul>{content}</ul>" if content else ""


def fact_table(rows: Iterable[tuple[str, str]]) -> str:
    """Return a table of names and HTML; rows without a value are omitted."""
    lines = "".join(f"<tr><th>{escape_text(name)}</th><td>{value}</td></tr>" for name, value in rows if value)
    return f"<table>{lines}</table>" if lines else ""


def collapsible(title: str, inner: str) -> str:
    """Return a collapsed block; empty without content."""
    return f"<details><summary>{escape_text(title)}</summary>{inner}</details>" if inner else ""


def json_block(value: object) -> str:
    """Return a value as JSON on several lines."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def before_and_after(before: object, after: object) -> str:
    """Return two values side by side with differing lines marked; one value if they are equal."""
    old, new = json_block(before), json_block(after)
    if old == new:
        return f"{text_block(old)}<p class=faint>No handler changed it.</p>"
    left, right = old.splitlines(), new.splitlines()
    removed, added = _differing_lines(left, right)
    return (
        '<div class="pair">'
        f"<div><p class=faint>before</p><pre>{_marked_lines(left, removed)}</pre></div>"
        f"<div><p class=faint>after</p><pre>{_marked_lines(right, added)}</pre></div>"
        "</div>"
    )


def _differing_lines(left: Sequence[str], right: Sequence[str]) -> tuple[set[int], set[int]]:
    """Return the numbers of the lines that only one side has; none if there are too many to compare."""
    removed: set[int] = set()
    added: set[int] = set()
    if max(len(left), len(right)) <= COMPARED_LINE_LIMIT:
        for kind, *bounds in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
            if kind != "equal":
                removed.update(range(bounds[0], bounds[1]))
                added.update(range(bounds[2], bounds[3]))
    return removed, added


def _marked_lines(lines: Sequence[str], numbers: set[int]) -> str:
    """Return the lines, with some marked. A marked line is a block and needs no line end."""
    return "".join(
        f"<mark>{escape_text(line)}</mark>" if number in numbers else f"{escape_text(line)}\n"
        for number, line in enumerate(lines)
    )


STYLE_SHEET = """
:root {
  color-scheme: light dark;
  --back: #fbfbf9; --card: #ffffff; --text: #24292e; --faint: #6a7178; --line: #e3e4e0;
  --good: #2e7d4f; --bad: #b3372f; --odd: #92620a; --bar: #7c93b2; --mark: #fff3c9; --code: #f4f4f0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #16181b; --card: #1d2024; --text: #d8dbde; --faint: #8f979f; --line: #30353b;
    --good: #6fbf8b; --bad: #ee8880; --odd: #d9aa55; --bar: #6d83a3; --mark: #46401f; --code: #23272c;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--back); color: var(--text);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif;
}
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; margin: 0.1rem 0 0.4rem; font-weight: 600; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 2.2rem 0 0.7rem; font-weight: 600; }
h3 { font-size: 1rem; margin: 0; font-weight: 600; overflow-wrap: anywhere; }
h4 { font-size: 0.85rem; margin: 1rem 0 0.3rem; font-weight: 600; color: var(--faint); }
p { margin: 0.3rem 0; overflow-wrap: anywhere; }
.faint, footer { color: var(--faint); }
footer { margin-top: 3rem; font-size: 0.85rem; }
.good { color: var(--good); } .bad { color: var(--bad); } .odd { color: var(--odd); }
.state { font-weight: 600; white-space: nowrap; }
article {
  background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 0.9rem 1.1rem; margin: 0.8rem 0;
}
.head { display: flex; gap: 0.8rem; align-items: baseline; flex-wrap: wrap; }
pre, code, .mono { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre {
  background: var(--code); border-radius: 6px; padding: 0.6rem 0.8rem; margin: 0.3rem 0;
  white-space: pre-wrap; overflow-wrap: anywhere; max-height: 40rem; overflow: auto;
}
mark { background: var(--mark); color: inherit; display: block; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: 0.25rem 0.8rem 0.25rem 0; font-weight: normal; }
th { color: var(--faint); white-space: nowrap; width: 1%; }
td { overflow-wrap: anywhere; }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; width: 1%; }
td.time { width: 45%; min-width: 8rem; }
svg { display: block; width: 100%; height: 0.9rem; margin-top: 0.35rem; }
svg .lane { fill: var(--line); } svg .bar { fill: var(--bar); }
svg .bar.bad { fill: var(--bad); } svg .bar.odd { fill: var(--odd); }
ul { margin: 0.3rem 0; padding-left: 1.2rem; }
li { overflow-wrap: anywhere; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0.8rem; }
details > summary { cursor: pointer; color: var(--faint); }
@media (max-width: 45rem) {  /* a phone: each bar has its own line */
  .pair { grid-template-columns: 1fr; }
  .lanes tr { display: flex; flex-wrap: wrap; }
  .lanes td:nth-child(2) { flex: 1; }
  .lanes td.number { width: auto; }
  .lanes td.number:last-child { min-width: 5.5rem; padding-right: 0; }
  .lanes td.time { order: 1; flex: 0 0 100%; padding: 0; }
}
@media print { pre { max-height: none; } article { break-inside: avoid; } }
"""

Document = Mapping[str, Any]

STATUS_SIGNS = {"ok": "✓", "error": "✗", "timeout": "◷", "crashed": "☠", "cancelled": "⊘"}
STATUS_CLASSES = {"ok": "good", "cancelled": "odd", "timeout": "odd"}
NARROWEST_BAR = 0.4  # percent of the width, so that every bar is visible


def status_text(status: str) -> str:
    """Return the glyph and the word of a handler's status."""
    return (
        f'<span class="state {_status_class(status)}">{STATUS_SIGNS.get(status, "·")} '
        f"{escape_text(status)}</span>"
    )


def _status_class(status: str) -> str:
    return STATUS_CLASSES.get(status, "bad")


def timeline(results: Sequence[Document], took_ms: float) -> str:
    """Return a row for each handler, with a bar from its start to its end on one scale."""
    if not results:
        return ""
    total_ms = max(took_ms, *(result["started_ms"] + result["ms"] for result in results)) or 1.0
    lines = "".join(_timeline_row(number, result, total_ms) for number, result in enumerate(results, 1))
    return f'<table class="lanes">{lines}</table>'


def _timeline_row(number: int, result: Document, total_ms: float) -> str:
    start, took = result["started_ms"], result["ms"]
    left = min(100 * start / total_ms, 100 - NARROWEST_BAR)
    width = max(min(100 * took / total_ms, 100 - left), NARROWEST_BAR)
    label = f"starts at {duration(start / 1000)}, takes {duration(took / 1000)}"
    return (
        f'<tr><td class="number faint">{number}</td><td>{escape_text(result["hook"])}</td>'
        f"<td>{status_text(result['status'])}</td>"
        f'<td class="time"><svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape_text(label)}"><title>{escape_text(label)}</title>'
        '<rect class="lane" x="0" y="4.5" width="100" height="1"/>'
        f'<rect class="bar {_status_class(result["status"])}" x="{left:.2f}" y="1" '
        f'width="{width:.2f}" height="8"/>'
        f'</svg></td><td class="number">{duration(took / 1000)}</td></tr>'
    )


def handler_article(result: Document, planned: Document | None) -> str:
    """Return the article of one handler. `planned`: its entry in the plan, with its file."""
    marks = [
        text for name, text in (("forced", "forced"), ("broken", "broken on purpose")) if result.get(name)
    ]
    took = duration(result["ms"] / 1000) + (
        f", loaded in {duration(result['load_ms'] / 1000)}" if result["load_ms"] else ""
    )
    facts = [f"as {result['key']}", took, *marks]
    return (
        f'<article><div class="head"><h3>{escape_text(result["hook"])}</h3>{status_text(result["status"])}'
        f'<span class="faint">{escape_text(" · ".join(facts))}</span></div>'
        + article_part("Messages", message_list(result["messages"], result["delivered"]))
        + article_part("Error", failure_html(result["error"]))
        + article_part(
            "The saved version does not load; the previous one ran", failure_html(result.get("stale"))
        )
        + article_part(
            "Answer", text_block(json_block(result["returned"])) if result["returned"] is not None else ""
        )
        + article_part("Requests to the host", text_list(result.get("asked") or ()))
        + article_part("Changed", _change_list(result["patch"]))
        + article_part("Output", text_block(result["stdout"]))
        + article_part("Error output", text_block(result["stderr"]))
        + article_part("Notes", text_list(result["notes"]))
        + collapsible("The handler's file", _handler_file(result, planned))
        + "</article>\n"
    )


def message_list(texts: Sequence[str], delivered: bool) -> str:
    """Return the pushed messages, and what their host does with them."""
    if not texts:
        return ""
    delivery = "delivered to the user" if delivered else "ignored by this host"
    return f'{text_list(texts)}<p class="faint">{delivery}</p>'


def failure_html(error: Document | None) -> str:
    """Return the error, then its stack trace, innermost frame first, with source lines."""
    if error is None:
        return ""
    frames = "".join(_stack_frame(frame) for frame in reversed(error["frames"]))
    headline = f'<p class="bad"><b>{escape_text(error["type"])}</b>: {escape_text(error["message"])}</p>'
    return f"{headline}{frames}"


def _stack_frame(frame: Document) -> str:
    column = f":{frame['column']}" if frame.get("column") else ""
    within = f" in {frame['function']}" if frame["function"] else ""
    place = f"{frame['file']}:{frame['line']}{column}{within}"
    return f'<p class="mono faint">{escape_text(place)}</p>{text_block(frame["source"])}'


def _change_list(changes: Sequence[Document]) -> str:
    return fact_table(
        (
            str(change.get("op", "")),
            code_html(change.get("path", ""))
            + (text_block(json_block(change["value"])) if "value" in change else ""),
        )
        for change in changes
    )


def _handler_file(result: Document, planned: Document | None) -> str:
    handler = planned or {}
    return fact_table(
        (
            ("path", code_html(result["handler"]) if result["handler"] else ""),
            ("content", code_html(handler["digest"]) if handler.get("digest") else ""),
            ("other code in its folder", code_html(handler["beside"]) if handler.get("beside") else ""),
        )
    )


OUTCOME_SIGNS = {
    "ok": ("good", "✓"),
    "failed": ("bad", "✗"),
    "cancelled": ("odd", "⊘"),
    "interrupted": ("bad", "☠"),
    "running": ("odd", "»"),
}
# The page loads nothing and runs no script, whatever its content.
CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def run_html(run: StoredRun, settings: Mapping[str, Any] | None) -> str:
    """Return the run as one HTML document. `settings`: the host's, `{"file": …, "value": …}`."""
    from hookscope.storage.journal.run_environment import handler_documents

    document, planned = run.document, handler_documents(run.handlers)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{CONTENT_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape_text(run.key)} – run "
        f"{run.id}</title>\n<style>{STYLE_SHEET}</style>\n</head>\n<body>\n<main>\n"
        + _page_head(run)
        + _result_section(document)
        + section_html(
            "Handlers", timeline(document["results"], document["ms"]), *_handler_articles(document, planned)
        )
        + section_html("Planned", _planned_section(document, planned))
        + section_html("Not run", _not_run_section(document["not_run"]))
        + section_html("Event", _event_section(document["event"]))
        + section_html("Context", before_and_after(document["event"]["context"], document["context"]))
        + section_html(
            "Log", fact_table((line["level"], escape_text(line["text"])) for line in document["log"])
        )
        + section_html("Caused events", *map(_caused_event_section, document["caused"]))
        + section_html("Files, in copies that were discarded", _file_section(document["guarded"]))
        + section_html("The host's settings", _settings_section(settings))
        + "<footer>Made by Hookscope. Secrets were masked before anything was stored.</footer>\n"
        "</main>\n</body>\n</html>\n"
    )


def _page_head(run: StoredRun) -> str:
    css, sign = OUTCOME_SIGNS[run.outcome]
    when = run.started.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    took = "its end was not recorded" if run.took is None else duration(run.took)
    count = len(run.document["results"])
    facts = [
        f"{count} handler{'s' * (count != 1)} ran",
        took,
        f"{run.dialect} ({run.version})" if run.version else run.dialect,
        run.workspace,
        *(["pinned"] if run.pinned else []),
    ]
    assumed = run.document["assumed"]
    what_if = f'<p class="odd">What if: {escape_text(", ".join(assumed))} assumed</p>' if assumed else ""
    return (
        f'<header><p class="faint">Run {run.id} · {when} UTC</p>\n'
        f'<h1>{escape_text(run.key)} <span class="state {css}">{sign} '
        f"{escape_text(run.outcome)}</span></h1>\n"
        f'<p class="faint">{escape_text(" · ".join(facts))}</p>{what_if}</header>\n'
    )


def _result_section(document: Document) -> str:
    """Return the outcome of the event as a whole; empty if nothing but its handlers' results is known."""
    result = document["result"]
    return section_html(
        "Outcome",
        f"<p>{escape_text(document['verdict'])}</p>" if document.get("verdict") else "",
        f'<p class="bad">{escape_text(document["failure"])}</p>' if document["failure"] else "",
        article_part("Messages", message_list(document["messages"], document["delivers"])),
        article_part("Merged answer", text_block(json_block(result)) if result is not None else ""),
        article_part("Notes", text_list(document["notes"])),
    )


def _handler_articles(document: Document, planned: Sequence[Document]) -> Iterator[str]:
    """Yield the handlers' articles, each with a plan entry of its own: a handler can be planned twice."""
    unused = list(planned)
    for result in document["results"]:
        entry = next(
            (
                candidate
                for candidate in unused
                if (candidate["hook"], candidate["key"]) == (result["hook"], result["key"])
            ),
            None,
        )
        if entry is not None:
            unused.remove(entry)
        yield handler_article(result, entry)


def _planned_section(document: Document, planned: Sequence[Document]) -> str:
    """Return the planned handlers, in order, if there are no results."""
    if document["results"] or not planned:
        return ""
    return text_list(f"{entry['hook']} as {entry['key']}" for entry in planned)


def _not_run_section(not_run: Sequence[Document]) -> str:
    """Return subscribed hooks and near misses that did not run; the others are collapsed."""
    subscribed = [entry for entry in not_run if entry.get("listens", True) or entry.get("near")]
    others = [entry for entry in not_run if not (entry.get("listens", True) or entry.get("near"))]
    return fact_table(
        (entry["hook"], escape_text(entry.get("near") or entry["reason"])) for entry in subscribed
    ) + collapsible(
        f"{len(others)} that subscribe to other events, or to none",
        fact_table((entry["hook"], escape_text(entry["reason"])) for entry in others),
    )


def _event_section(event: Document) -> str:
    return fact_table(
        (
            ("type", code_html(event["type"])),
            ("action", code_html(event["action"]) if event["action"] else ""),
            ("session", code_html(event["sessionKey"]) if event["sessionKey"] else ""),
            ("time", escape_text(event["timestamp"])),
            ("kind", escape_text(event["kind"])),
            ("messages", text_list(event["messages"])),
            ("second argument", text_block(json_block(event["ctx"])) if event.get("ctx") else ""),
            ("envelope", text_block(json_block(event["meta"])) if event.get("meta") else ""),
        )
    )


def _caused_event_section(document: Document) -> str:
    event = document["event"]
    key = f"{event['type']}:{event['action']}" if event["action"] else event["type"]
    handlers = timeline(document["results"], document["ms"]) or '<p class="faint">No hook received it.</p>'
    failed = f'<p class="bad">{escape_text(document["failure"])}</p>' if document["failure"] else ""
    inner = "".join(map(_caused_event_section, document["caused"]))
    return (
        f'<article><div class="head"><h3>{escape_text(key)}</h3></div>{failed}{handlers}{inner}</article>\n'
    )


def _file_section(sandbox: Document | None) -> str:
    """Return the files that handlers wrote, changed and deleted, with diffs."""
    if sandbox is None:
        return ""
    rows = fact_table(
        (kind, f"{code_html(path)}{text_block(diff)}") for path, kind, _, _, diff, *_ in sandbox["changes"]
    )  # fmt: skip
    more = f"<p>and {sandbox['more']:,} more</p>" if sandbox["more"] else ""
    walls = f'<p class="faint">{escape_text(sandbox["walls"])}</p>'
    none = unchanged_summary(read_only_disk=sandbox["disk"], complete=sandbox.get("complete", False))
    return (
        (rows or f"<p>{escape_text(f'{none[0].upper()}{none[1:]}.')}</p>")
        + more
        + walls
        + text_list(sandbox["notes"])
    )


def _settings_section(settings: Mapping[str, Any] | None) -> str:
    if settings is None:
        return ""
    return collapsible(f"as of this run, from {settings['file']}", text_block(json_block(settings["value"])))


__all__ = ["run_html"]
