"""What an agent's own text says of it."""

import pytest

from hookscope.formats.subscriptions import agent_description


@pytest.mark.parametrize(
    ("language", "source", "description"),
    [
        (
            "typescript",
            'export default defineAgent({ model: m("x"), description: "A helper." });',
            "A helper.",
        ),
        ("typescript", "const a = { description: 'It\\'s one' };\nexport default a;", "It's one"),
        ("javascript", "module.exports = { description: `plain` };", "plain"),
        ("typescript", "export default defineAgent({ description: `for ${who}` });", None),
        ("typescript", "export default defineAgent({ description: told() });", None),
        ("typescript", "export default defineAgent({ model: { description: 'of the model' } });", None),
        ("typescript", "export default {", None),
        ("python", "agent = define_agent(model=1, description='A helper.')", "A helper."),
        ("python", "agent = define_agent(description=told())", None),
        ("python", "agent = define_agent(", None),
        ("unknown", "description: x", None),
    ],
)
def test_a_description_is_read_where_the_text_says_it(
    language: str, source: str, description: str | None
) -> None:
    assert agent_description(source.encode(), language) == description  # type: ignore[arg-type]
