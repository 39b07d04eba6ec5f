"""The page of one run, from top to bottom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hookscope.cli.page.handlers import Document, article, messages, waterfall
from hookscope.cli.page.parts import (
    before_and_after,
    block,
    code,
    facts,
    folded,
    listed,
    part,
    pretty,
    safe,
    section,
)
from hookscope.cli.page.style import STYLE
from hookscope.core.copies import unchanged
from hookscope.core.text import duration

if TYPE_CHECKING:
    from hookscope.workbench import StoredRun

OUTCOMES = {
    "ok": ("good", "✓"),
    "failed": ("bad", "✗"),
    "cancelled": ("odd", "⊘"),
    "interrupted": ("bad", "☠"),
    "running": ("odd", "»"),
}
# Nothing is loaded from anywhere and nothing runs, whatever stands in the page.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page_of(run: StoredRun, settings: Mapping[str, Any] | None) -> str:
    """The run as one HTML document. `settings`: the host's, `{"file": …, "value": …}`."""
    from hookscope.workbench.history import handler_documents

    document, planned = run.document, handler_documents(run.handlers)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{safe(run.key)} – run {run.id}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + _head(run)
        + _came_of_it(document)
        + section("Handlers", waterfall(document["results"], document["ms"]), *_articles(document, planned))
        + section("Planned", _planned(document, planned))
        + section("Not run", _not_run(document["not_run"]))
        + section("Event", _event(document["event"]))
        + section("Context", before_and_after(document["event"]["context"], document["context"]))
        + section("Log", _log(document["log"]))
        + section("Events that followed", *map(_caused, document["caused"]))
        + section("Files, in copies that were thrown away", _files(document["guarded"]))
        + section("The host's settings", _settings(settings))
        + "<footer>Made by Hookscope. Secrets were masked before anything was kept.</footer>\n"
        "</main>\n</body>\n</html>\n"
    )


def _head(run: StoredRun) -> str:
    css, sign = OUTCOMES[run.outcome]
    when = run.started.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    took = "no end on record" if run.took is None else duration(run.took)
    count = len(run.document["results"])
    told = [
        f"{count} handler{'s' * (count != 1)} ran",
        took,
        f"{run.dialect} ({run.version})" if run.version else run.dialect,
        run.workspace,
        *(["pinned"] if run.pinned else []),
    ]
    assumed = run.document["assumed"]
    what_if = f'<p class="odd">What if: {safe(", ".join(assumed))} assumed</p>' if assumed else ""
    return (
        f'<header><p class="faint">Run {run.id} · {when} UTC</p>\n'
        f'<h1>{safe(run.key)} <span class="state {css}">{sign} {safe(run.outcome)}</span></h1>\n'
        f'<p class="faint">{safe(" · ".join(told))}</p>{what_if}</header>\n'
    )


def _came_of_it(document: Document) -> str:
    """What the event came to as a whole; nothing where that is only that its handlers ran."""
    result = document["result"]
    return section(
        "What came of it",
        f"<p>{safe(document['verdict'])}</p>" if document.get("verdict") else "",
        f'<p class="bad">{safe(document["failure"])}</p>' if document["failure"] else "",
        part("Messages", messages(document["messages"], document["delivers"])),
        part("Merged answer", block(pretty(result)) if result is not None else ""),
        part("Notes", listed(document["notes"])),
    )


def _articles(document: Document, planned: Sequence[Document]) -> Iterator[str]:
    """A handler may stand under a key twice: the plan's entries are used up one by one."""
    left = list(planned)
    for result in document["results"]:
        found = next(
            (one for one in left if (one["hook"], one["key"]) == (result["hook"], result["key"])), None
        )
        if found is not None:
            left.remove(found)
        yield article(result, found)


def _planned(document: Document, planned: Sequence[Document]) -> str:
    """Who was to run, in order, where no result tells it."""
    if document["results"] or not planned:
        return ""
    return listed(f"{one['hook']} as {one['key']}" for one in planned)


def _not_run(left: Sequence[Document]) -> str:
    """Those who listen and did not run, and who nearly listens; the others on request."""
    listening = [one for one in left if one.get("listens", True) or one.get("near")]
    others = [one for one in left if not (one.get("listens", True) or one.get("near"))]
    return facts((one["hook"], safe(one.get("near") or one["reason"])) for one in listening) + folded(
        f"{len(others)} that listen to other events, or to none",
        facts((one["hook"], safe(one["reason"])) for one in others),
    )


def _event(event: Document) -> str:
    return facts(
        (
            ("type", code(event["type"])),
            ("action", code(event["action"]) if event["action"] else ""),
            ("session", code(event["sessionKey"]) if event["sessionKey"] else ""),
            ("time", safe(event["timestamp"])),
            ("kind", safe(event["kind"])),
            ("messages", listed(event["messages"])),
            ("second argument", block(pretty(event["ctx"])) if event.get("ctx") else ""),
            ("envelope", block(pretty(event["meta"])) if event.get("meta") else ""),
        )
    )


def _log(lines: Sequence[Document]) -> str:
    return facts((line["level"], safe(line["text"])) for line in lines)


def _caused(document: Document) -> str:
    """An event that this one caused, and those that it caused itself."""
    event = document["event"]
    key = f"{event['type']}:{event['action']}" if event["action"] else event["type"]
    heard = waterfall(document["results"], document["ms"]) or '<p class="faint">No hook heard it.</p>'
    failed = f'<p class="bad">{safe(document["failure"])}</p>' if document["failure"] else ""
    inner = "".join(map(_caused, document["caused"]))
    return f'<article><div class="head"><h3>{safe(key)}</h3></div>{failed}{heard}{inner}</article>\n'


def _files(guarded: Document | None) -> str:
    """What handlers wrote, changed and deleted, with its difference."""
    if guarded is None:
        return ""
    rows = facts(
        (kind, f"{code(path)}{block(diff)}") for path, kind, _, _, diff, *_ in guarded["changes"]
    )  # fmt: skip
    more = f"<p>and {guarded['more']:,} more</p>" if guarded["more"] else ""
    walls = f'<p class="faint">{safe(guarded["walls"])}</p>'
    none = unchanged(disk=guarded["disk"], complete=guarded.get("complete", False))
    return (
        (rows or f"<p>{safe(f'{none[0].upper()}{none[1:]}.')}</p>") + more + walls + listed(guarded["notes"])
    )


def _settings(settings: Mapping[str, Any] | None) -> str:
    if settings is None:
        return ""
    return folded(f"as they were in force, from {settings['file']}", block(pretty(settings["value"])))
