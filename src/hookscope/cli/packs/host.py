"""`--format host`: install and update in the words and with the exit codes of the host's own command."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from hookscope.cli.answers import Answer
from hookscope.cli.host_format import in_its_words
from hookscope.cli.packs import asking
from hookscope.core.host_command import PackWords, Said
from hookscope.workbench import Options, Refusal, Workbench
from hookscope.workbench.packs.desk import PackDesk
from hookscope.workbench.packs.planned import Planned
from hookscope.workbench.packs.planning import Asked

NPM, LOCAL = "npm", "path"


def install(
    options: Options, text: str, asked: Asked, *, dry_run: bool, accept_changed: bool = False
) -> Answer:
    """As the host's `install`: --force says yes, and replaces."""
    bench, desk, words = _opened(options)
    said = list(words.deprecated("install"))
    surroundings = bench.setup.surroundings
    try:
        spec = desk.spec(text)
    except Refusal as error:
        if text.startswith((".", "/", "~")):
            return _answer(words.absent(str(surroundings.absolute(text))), said)
        return _answer(Said(1, errors=(str(error),)), said)
    if asked.pin and spec.source != NPM:
        return _answer(words.only_registry(), said)
    warned = words.warned(text) if spec.path is not None else ()
    if not asked.force:
        return _answer(replace(words.unasked(), errors=(*warned, *words.unasked().errors)), said)
    said += warned
    try:
        planned = desk.plan_install(text, replace(asked, own_handlers=True), asking.progress(True))
        if not dry_run:
            desk.carry_out(planned, accept_changed=accept_changed)
            bench.close_now()
    except Refusal as error:
        packaged = spec.path is not None and os.path.isfile(spec.path / "package.json")
        return _answer(words.refused(error.what.rstrip("."), packaged=packaged), said)
    target = next((str(folder) for folder in planned.trees), text)
    return _answer(Said(lines=words.installed(planned.id, target)), said)


def update(
    options: Options,
    names: Sequence[str],
    *,
    everything: bool,
    dry_run: bool,
    accept_changed: bool = False,
) -> Answer:
    """As the host's `update`: packs of npm alone."""
    bench, desk, words = _opened(options)
    said = list(words.deprecated("update"))
    if not names and not everything:
        return _answer(words.nothing_named(), said)
    known = desk.installed()
    if missing := next((name for name in names if name not in known), None):
        return _answer(words.unknown(missing), said)
    failed: list[str] = []
    for name in names or known:
        source = known[name].source
        if source != NPM:
            said.append(words.skipped(name, LOCAL if source == "folder" else source))
            continue
        try:
            planned = desk.plan_update(name)
            if isinstance(planned, Planned) and not dry_run:
                desk.carry_out(planned, accept_changed=accept_changed)
        except Refusal as error:
            failed.append(str(error))
    bench.close_now()
    return _answer(Said(1 if failed else 0, errors=tuple(failed)), said)


def _opened(options: Options) -> tuple[Workbench, PackDesk, PackWords]:
    bench, desk = asking.desk_of(replace(options, as_host=True))
    host = bench.open()
    words = host.dialect.command.packs if host.dialect.command is not None else None
    if words is None:
        raise Refusal(
            f"The dialect {host.dialect.name} knows no command of {host.dialect.product}'s own about packs.",
            "Leave out --format, or name a version with --dialect.",
            code=2,
        )
    return bench, desk, words


def _answer(said: Said, before: Sequence[str]) -> Answer:
    return in_its_words(replace(said, lines=(*before, *said.lines)))
