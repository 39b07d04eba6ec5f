"""`python -m tests.contracts` shows what changed in the contracts; `--accept` records it."""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.contracts.golden import accept, contracts, difference, recorded
from tests.forking import Forks


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.contracts", description=__doc__)
    parser.add_argument("--accept", action="store_true", help="record what the program answers now")
    asked = parser.parse_args()
    forks = Forks()
    with tempfile.TemporaryDirectory() as folder:
        now = contracts(Path(folder).resolve() / "sample", forks)
    forks.close()
    before = recorded()
    found = [difference(name, before.get(name, ""), now.get(name, "")) for name in {**before, **now}]
    sys.stdout.write("\n".join(filter(None, found)) or "Every contract is as recorded.")
    sys.stdout.write("\n")
    if asked.accept:
        accept(now)
    return 1 if any(found) and not asked.accept else 0


sys.exit(main())
