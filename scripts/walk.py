"""Run the walk of tests/support/walk.py, and write what its commands print to docs/walk.md.

PINE_DATA=FOLDER python scripts/walk.py
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support.walk import DOCUMENT, WALK, document, walked


def main() -> None:
    data = os.environ.get("PINE_DATA")
    if data is None:
        sys.exit("the walk goes over chameleon.npz of the benchmark data: set PINE_DATA to its folder")
    outputs = {}
    for name, section in WALK.items():
        with tempfile.TemporaryDirectory() as folder:
            outputs[name] = walked(section, Path(folder), Path(data))
    DOCUMENT.write_text(document(outputs), encoding="utf-8")


if __name__ == "__main__":
    main()
