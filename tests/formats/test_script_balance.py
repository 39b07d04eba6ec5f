"""Brackets without a partner are told where they surely have none; all else is left to a load."""

import pytest

from hookscope.formats.positions import FormatError
from hookscope.formats.script_source import check_brackets

RIGHT = [
    "export default async (event) => { event.messages.push(`a ${1 + (2)} b`) };",
    "const a = '}'; const b = \"(\"; // } )\n/* { */ export default () => {};",
    "const c = 'it\\'s }'; export default () => {};",
    "const re = /[(]/; export default () => { re.test('x') };",
    "const half = 4 / 2; const re = /\\)/g; export default () => {};",
    "const t = `}`; export default () => {};",
    "#!/usr/bin/env node\nconst s = '(';\nexport default () => {};",
    "\ufeffexport default () => {};",
    "",
]
WRONG = {
    "export default (event) => {\n  event.messages.push('x');\n": (1, 27, "`{` is never closed"),
    "export default (event) => {\n  if (event.type === 'a' {\n  }\n};\n": (2, 6, "`(` is never closed"),
    "export default () => {};\n}\n": (2, 1, "`}` closes nothing"),
    "\ufeffexport default () => {": (1, 22, "`{` is never closed"),
    "// a {\nconst b = ')';\nexport default () => [1, 2;\n": (3, 22, "`[` is never closed"),
}


@pytest.mark.parametrize("text", RIGHT)
def test_possibly_valid_scripts_are_not_rejected(text: str) -> None:
    check_brackets(text.encode())


@pytest.mark.parametrize("text", WRONG)
def test_an_unmatched_bracket_is_reported_with_its_position(text: str) -> None:
    with pytest.raises(FormatError) as told:
        check_brackets(text.encode())
    line, column, problem = WRONG[text]
    assert (told.value.span.line, told.value.span.column, told.value.problem) == (line, column, problem)


@pytest.mark.parametrize("source", [b"\xff{", b"const re = /(/; {", b"`${", b"'", b"{" * 100_000])
def test_undecidable_scripts_are_left_to_a_load(source: bytes) -> None:
    check_brackets(source)
