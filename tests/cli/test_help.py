"""`hookscope help`: the manual in the terminal."""

from tests.cli.conftest import Program

from hookscope.manual import TOPICS


def test_topics_are_listed_and_told(hookscope: Program) -> None:
    listed = hookscope("help")
    assert listed.code == 0
    assert all(topic in listed.out for topic in TOPICS)
    gates = hookscope("help", "gates")
    assert gates.out.startswith("# The checks\n")
    assert "| `anyBins`" in gates.out or "`anyBins`" in gates.out
    log = hookscope("help", "log", "--json")
    assert log.json["title"] == "What was fired"
    assert "`hookscope log --help` has the options." in hookscope("help", "log").out


def test_a_command_is_a_topic_and_a_stranger_is_not(hookscope: Program) -> None:
    assert "Usage: hookscope plan" in hookscope("help", "plan").out
    wrong = hookscope("help", "gate")
    assert (wrong.code, wrong.out) == (2, "")
    assert "did you mean `gates`?" in wrong.err
