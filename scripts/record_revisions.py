"""Record what methods compute on small graphs, by their revisions, in tests/revisions.json for tests/test_revisions.py.

    python scripts/record_revisions.py

Outputs that changed under an unchanged revision are refused: raise the revision first.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support.revisions import FILE, cases, recorded, updated


def main() -> None:
    measured = {name: (case, case.compute()) for name, case in cases()}
    record = updated(recorded(), measured)
    lines = [f" {json.dumps(name)}: {json.dumps(entry)}" for name, entry in record.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
