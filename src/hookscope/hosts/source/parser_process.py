"""The parser process: one script per line on standard input, its facts per line on standard output."""

import json
import sys
from dataclasses import asdict

SECONDS = 6  # of processor time, for all scripts
MEMORY = 2 * 1024**3  # bytes of address space


def main() -> int:
    """Parse scripts until the input ends. Exit code 3: the parser or its grammars are not installed."""
    try:
        from tree_sitter import Language, Parser
        from tree_sitter_javascript import language as javascript
        from tree_sitter_typescript import language_typescript as typescript
    except ImportError:
        return 3
    from hookscope.hosts.source.script import script_facts

    _limit()
    parsers = {True: Parser(Language(typescript())), False: Parser(Language(javascript()))}
    for line in sys.stdin:
        script = json.loads(line)
        source = script["text"].encode("utf-8", "replace")
        tree = parsers[bool(script["typescript"])].parse(source)
        print(json.dumps(asdict(script_facts(tree.root_node, source))), flush=True)  # noqa: T201
    return 0


def _limit() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    except (ImportError, OSError, ValueError):  # Windows has no limits, macOS refuses some
        pass


if __name__ == "__main__":
    sys.exit(main())
