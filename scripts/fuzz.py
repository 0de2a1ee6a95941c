"""Run the fuzzer of tests/support/fuzz, and write its table to docs/trust.md.

python scripts/fuzz.py
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support.fuzz.runner import fuzz, table
from support.fuzz.targets import CASES

DOCUMENT = Path(__file__).parent.parent / "docs" / "trust.md"
BEGIN, END = "<!-- the table of scripts/fuzz.py -->", "<!-- its end -->"


def main() -> None:
    begin = time.monotonic()
    outcomes = fuzz(CASES)
    minutes = (time.monotonic() - begin) / 60
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    made = f"{BEGIN}\n\n{table(outcomes)}\n\n{minutes:.0f} minutes in two processes.\n\n{END}"
    DOCUMENT.write_text(before + made + after, encoding="utf-8")
    faults = [fault for each in outcomes for fault in each.faults]
    sys.exit("\n".join(faults) or 0)


if __name__ == "__main__":
    main()
