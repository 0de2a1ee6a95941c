"""Run the pages of docs/, and write what their code prints below it.

python scripts/write_docs.py [PAGE.md ...]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support.documents import DOCS, Block, pages, run_page, same


def rewritten(text: str, done: list[tuple[Block, str]]) -> str:
    """The page with the outputs that are not as shown put in their places, from the last to the first."""
    for block, printed in reversed(done):
        if block.language == "python" and block.shown is not None and not same(printed, block.shown):
            assert block.shown_at is not None
            text = text[: block.shown_at[0]] + printed + text[block.shown_at[1] :]
        elif block.language == "console" and not same(printed, block.code):
            text = text[: block.code_at[0]] + printed + text[block.code_at[1] :]
    return text


def main() -> None:
    names = sys.argv[1:]
    for name, text in pages().items():
        if not names or name in names:
            with tempfile.TemporaryDirectory() as folder:
                (DOCS / name).write_text(rewritten(text, run_page(name, text, Path(folder))), encoding="utf-8")


if __name__ == "__main__":
    main()
