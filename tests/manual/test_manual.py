"""The README is the manual: every chapter has a topic, and every topic its chapter."""

import re

import pytest

from hookscope.manual import TOPICS, chapter_of, chapters, readme


def test_every_chapter_has_a_topic_and_every_topic_a_chapter() -> None:
    assert [*chapters(readme())] == [*TOPICS.values(), "Licence"]


def test_the_contents_lead_to_every_chapter() -> None:
    contents = readme().partition("\n## ")[0]
    anchors = [re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in TOPICS.values()]
    assert sorted(re.findall(r"\]\(#([^)]+)\)", contents)) == sorted(anchors)


@pytest.mark.parametrize("topic", TOPICS)
def test_no_topic_is_empty(topic: str) -> None:
    chapter = chapter_of(topic, readme())
    assert chapter is not None
    assert len(chapter.text) > 200
    assert "![" not in chapter.text


def test_a_chapter_that_begins_with_code_keeps_its_indentation() -> None:
    assert chapters("## One\n\n    hookscope\n\nopens it\n")["One"].text == "    hookscope\n\nopens it"


def test_heading_in_a_code_block_is_ignored() -> None:
    text = "# A\n\n## One\n\n```yaml\n## not a heading\n```\n\n![p](x.svg)\n\n<!-- mark -->\n## Two\nend\n"
    found = chapters(text)
    assert [*found] == ["One", "Two"]
    assert found["One"].text == "```yaml\n## not a heading\n```"
