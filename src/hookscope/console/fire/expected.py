"""What a run came to beside what its saved event expects, line by line."""

from collections.abc import Iterator

from textual.content import Content

from hookscope.console.fire.tabs.shown import foreign, muted, stack
from hookscope.console.keymap.hints import key_of
from hookscope.console.marks import MUTED, count, word
from hookscope.workbench.testing import Verified

STYLES = {"+": "$text-success", "-": "$text-error"}


def remark(checked: Verified) -> tuple[str, str]:
    """One line about it, and its colour."""
    name = word(checked.file.name, 60)
    if checked.problem:
        return f"✗ {name}: {word(checked.problem, 200)}", "$text-error"
    if checked.accepted:
        return f"✓ {name} expects what happened", "$text-success"
    if not checked.expects:
        return f"{name} expects nothing yet: {key_of('fire.accept')} writes what happened", MUTED
    missed = len(checked.misses) + len(checked.left)
    if not checked.passed:
        return (
            f"✗ {count(missed, 'thing')} not as {name} expects: {key_of('fire.accept')} accepts",
            "$text-error",
        )
    return f"✓ as {name} expects", "$text-success"


def text(checked: Verified) -> Content:
    """Each thing that was missed, expected and got; else that all is as expected."""
    return stack(_lines(checked))


def _lines(checked: Verified) -> Iterator[Content]:
    if not checked.why:
        said, style = remark(checked)
        yield Content.styled(said, style)
    for line in checked.why:
        if line.startswith("  "):
            yield Content("  ") + foreign(line[2:], 300).stylize(STYLES.get(line[2:3], MUTED))
        else:
            yield foreign(line, 600)
    if any(line.startswith(("  -", "  +")) for line in checked.why):
        yield muted("- was expected and did not come, + came")
