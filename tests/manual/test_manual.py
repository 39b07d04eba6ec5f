"""The manual: short chapters in plain sentences, found by title, by a word, and by a near miss."""

import ast
import re
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

import pytest
from tests.manual.prose import sentences_of

from hookscope.manual import chapter_of, chapters, sections_about, sections_of

PROJECT = Path(__file__).parents[2]
MANUAL = PROJECT / "src" / "hookscope" / "manual"
MOST_LINES = 200
MOST_WORDS = 25  # of a sentence
QUESTIONS = {  # a newcomer's words → the chapters that answer
    "my hook is ready and never fires": "why",
    "which variables does it need": "why",
    "how do I test in CI": "ci",
    "what does ◐ mean": "why",
    "what does ▲ mean": "why",
    "how do I undo a change": "files",
    "does it need uv": "start",
    "which exit codes": "ci",
    "run handlers on copies": "firing",
    "fire again after every save": "console",
    "set a breakpoint": "editors",
    "runs in my shell but not in systemd": "what-if",
    "install hooks from npm": "packs",
    "how are secrets masked": "secrets",
    "change the keys": "keys",
    "real events of the agent": "tap",
    "order of handlers": "order",
    "write a plugin": "plugin",
    "write a hook in TypeScript": "write",
    "use hooks in my own program": "embedding",
    "which folder is trusted": "trust",
    "how do I keep a run": "log",
    "time limit of a handler": "safety",
    "vim keys": "keys",
    "two hooks with the same name": "why",
    "turn a hook off": "why",
    "where is its data": "files",
    "uninstall hookscope": "files",
    "a handler hangs": "firing",
    "list of dialects": "hosts",
    "why are there two copies of my hook": "why",
    "does list run my code": "looking",
    "can I trust looking": "looking",
    "how do I debug TypeScript": "debugging",
    "plugin hook not called": "plugin",
    "use another openclaw version": "openclaw",
    "record real events": "tap",
    "remap keybinding": "keys",
    "revert what it wrote": "files",
    "exit status": "ci",
    "json output": "ci",
    "hook times out": "firing",
    "hide my api key": "secrets",
    "share a run with a colleague": "log",
    "install somebody's hooks from github": "packs",
    "node not found": "start",
    "my hook runs twice": "why",
    "console.log output": "firing",
    "what does the half circle mean": "why",
    "run one hook only": "firing",
    "my hook is green but nothing happens": "why",
    "failures of yesterday": "log",
    "docker as root": "what-if",
    "which plugin blocked my tool call": "plugin",
    "turn off colour": "console",
    "events in the middle of a session": "firing",
}


@pytest.mark.parametrize("topic", chapters())
def test_chapters_are_short_and_begin_with_their_title(topic: str) -> None:
    (file,) = MANUAL.glob(f"*-{topic}.md")
    text = file.read_text()
    assert text.startswith("# ")
    assert len(text.splitlines()) <= MOST_LINES
    assert len(chapters()[topic].text) > 200


@pytest.mark.parametrize(
    "page", [*sorted(MANUAL.glob("*.md")), PROJECT / "README.md"], ids=lambda file: file.stem
)
def test_no_sentence_is_long(page: Path) -> None:
    assert [one for one in sentences_of(page.read_text()) if len(one.split()) > MOST_WORDS] == []


def test_chapters_refer_to_topics_that_exist() -> None:
    pages = [*MANUAL.glob("*.md"), PROJECT / "README.md"]
    named = {
        topic for page in pages for topic in re.findall(r"`hookscope help ([a-z][a-z-]*)`", page.read_text())
    }
    assert [topic for topic in named if chapter_of(topic) is None] == []


@pytest.mark.parametrize(("question", "topic"), QUESTIONS.items())
def test_questions_lead_to_their_chapter(question: str, topic: str) -> None:
    assert topic in [section.chapter.topic for section in sections_about(question)]


def test_near_misses_and_other_forms_find_sections() -> None:
    assert chapter_of("CHECKS") is chapter_of("gates")
    assert sections_about("sandbxo")[0].heading == "Sandbox"
    assert sections_about("breakpoints")
    assert sections_about("zzzz") == ()


def test_headings_in_code_are_ignored() -> None:
    write = chapter_of("write")
    assert write is not None
    assert [section.heading for section in sections_of(write)] == [
        "",
        "In Python",
        "In TypeScript and JavaScript",
        "Options of `hookscope new`",
    ]


REPLACED = (  # words of a literal translation, and what is written in their place
    (r"(is|are|was|be) told|says of", "reported, shown, logged"),
    (r"asked for|what is asked|wish|wished", "requested, option"),
    (r"stands?(?!-in)", "is, status, position"),
    (r"hears?|heard|listens? to", "receives, subscribes to"),
    (r"in vain", "ignored, has no effect"),
    (r"passed over|slip of the pen", "skipped; typo"),
    (r"comes? to|what came of|what has come of", "result, outcome"),
    (r"taken? back|takes back", "undone, reverted"),
    (r"goes on|go on|the same again|once more", "still running, continues; again"),
    (
        r"shut|whoever|surroundings|faces?|desk",
        "failed; everyone who; environment; the console and the commands",
    ),
)
MAY_STAY = {  # in a sentence or a string of the source → why
    "what an agent goes through": "no other word is shorter",
    "surroundings": "the name of an option and of a public type",
    "all but it were asked for": "a reason in old journals",
}


def sentences_of_source(file: Path) -> Iterator[str]:
    """Yield the strings and docstrings of a source file that have more than one word."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield from sentences_of(cleandoc(node.value))


@pytest.fixture(scope="module")
def all_sentences() -> list[tuple[str, str]]:
    """The sentences of the README, the manual and the source, each with the name of its file."""
    pages = [*MANUAL.glob("*.md"), PROJECT / "README.md"]
    source = sorted(MANUAL.parent.rglob("*.py"))
    return [
        *((page.name, sentence) for page in pages for sentence in sentences_of(page.read_text())),
        *((str(file.relative_to(PROJECT)), text) for file in source for text in sentences_of_source(file)),
    ]


@pytest.mark.parametrize(("words", "instead"), REPLACED)
def test_plain_words_are_used(words: str, instead: str, all_sentences: list[tuple[str, str]]) -> None:
    pattern = re.compile(rf"\b({words})\b", re.IGNORECASE)
    found = [
        f"{where}: {sentence!r} has {match[0]!r}; write: {instead}"
        for where, sentence in all_sentences
        if (match := pattern.search(sentence)) and not any(kept in sentence for kept in MAY_STAY)
    ]
    assert found == []
