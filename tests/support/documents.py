r"""Pages of docs/ as programs: which code they show, what it prints, and what of that two machines print alike.

A page is read from top to bottom, in a folder of its own:

- `<!-- files: NAME -->` writes the files of FILES[NAME].
- `<!-- file: PATH -->` above a block writes the block to that file.
- ```python runs in one namespace for the whole page. What it prints stands in a ```text block right below it.
- ```console has lines "$ COMMAND", each with what it prints below it; "..." stands for any number of lines.
- ```bash has one command a line, or more lines with \ at their ends; what it prints is not shown.
- `<!-- not run: REASON -->` above a block: it is not run.

Other blocks (```text, ```toml, ```csv) are no programs.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
import shlex
import subprocess
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.command_line import pine
from support.walk import write_novel, write_shop

DOCS = Path(__file__).parents[2] / "docs"
MADE_ELSEWHERE = {"walk.md": "tests/cli/test_walk.py"}  # which runs it
PROGRAMS = ("python", "console", "bash")
TEXTS = ("text", "toml", "csv")

BLOCK = re.compile(
    r"(?ms)^(?P<fence>```+)(?P<language>[^\n]*)\n(?P<code>.*?)^(?P=fence)[^\S\n]*$|^<!-- (?P<note>.*?) -->$"
)
MASKED = re.compile(r"\d+(?:\.\d+)? (?:[kMGT]?B|s)\b")
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e-?\d+)?")
TOLERANCE = 0.08  # of numbers with a point: other processors round otherwise


@dataclass(frozen=True)
class Block:
    """A block of code; shown: the output that the page has below it, and where that stands in the page."""

    page: str
    line: int
    language: str
    code: str
    file: str | None = None
    reason: str | None = None  # why it is not run
    files: str | None = None  # to be written before it
    shown: str | None = None
    shown_at: tuple[int, int] | None = None
    code_at: tuple[int, int] = (0, 0)


def pages() -> dict[str, str]:
    """The text of every page that is run here, by its name."""
    found = {path.name: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))}
    return {name: text for name, text in found.items() if name not in MADE_ELSEWHERE}


def blocks(page: str, text: str) -> list[Block]:
    """The blocks of a page, outputs with the code above them."""
    found: list[Block] = []
    notes: dict[str, str] = {}
    end_of_program = -1
    for match in BLOCK.finditer(text):
        if match["note"] is not None:
            kind, _, what = match["note"].partition(": ")
            if kind in ("files", "file", "not run"):
                notes[kind] = what
            continue
        line, language = text.count("\n", 0, match.start()) + 1, match["language"].strip()
        below = end_of_program >= 0 and not text[end_of_program : match.start()].strip()
        if language == "text" and below and "file" not in notes:
            found[-1] = _with_output(found[-1], match["code"], match.span("code"))
            end_of_program = -1
            continue
        code = match["code"]
        found.append(
            Block(page, line, language, code, notes.get("file"), notes.get("not run"), notes.get("files"),
                  code_at=match.span("code"))
        )  # fmt: skip
        end_of_program = match.end() if language == "python" else -1
        notes = {}
    return found


def _with_output(block: Block, shown: str, place: tuple[int, int]) -> Block:
    return Block(**{**block.__dict__, "shown": shown, "shown_at": place})


# ---- running ----


def run_page(page: str, text: str, folder: Path) -> list[tuple[Block, str]]:
    """Run the blocks of a page; each that has an output, with what it printed."""
    module = sys.modules["page"] = types.ModuleType("page")  # where dataclasses look for the names of a class
    done = []
    for block in blocks(page, text):
        if block.files is not None:
            FILES[block.files](folder)
        if block.file is not None:
            (folder / block.file).write_text(block.code, encoding="utf-8")
        elif block.reason is None and block.language in PROGRAMS:
            done.append((block, _run(block, folder, vars(module))))
    return done


def _run(block: Block, folder: Path, names: dict[str, Any]) -> str:
    if block.language == "python":
        out = io.StringIO()
        source = "\n" * block.line + block.code  # so that errors name the page's line
        code = compile(source, block.page, "exec", dont_inherit=True)
        with contextlib.chdir(folder), contextlib.redirect_stdout(out):
            exec(code, names)
        return out.getvalue()
    if block.language == "console":
        return "".join(f"$ {command}\n{_command(command, folder)}" for command, _ in transcript(block.code))
    for command in block.code.replace("\\\n", " ").splitlines():
        if command.strip() and not command.startswith("#"):
            _command(command, folder, must_succeed=True)
    return ""


def _command(command: str, folder: Path, must_succeed: bool = False) -> str:
    words = shlex.split(command, comments=True)
    if words[0] == "pine":
        done = pine(*words[1:], cwd=folder)
    else:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    assert not must_succeed or done.returncode == 0, f"{command}\n{done.stderr}"
    return done.stdout + done.stderr


def transcript(code: str) -> list[tuple[str, str]]:
    """The commands of a console, each with what is below it."""
    found: list[tuple[str, str]] = []
    for line in code.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:].strip(), ""))
        else:
            assert found, f"a console begins with a line '$ COMMAND', not with {line!r}"
            found[-1] = found[-1][0], found[-1][1] + line
    return found


# ---- comparing ----


def same(printed: str, shown: str) -> bool:
    """Whether two outputs are alike: the same words and whole numbers; numbers with a point about the same.

    Seconds and sizes in bytes are not compared, and a line "..." stands for any number of lines.
    """
    return _lines_match(_lines(printed), _lines(shown))


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in MASKED.sub("#", text).splitlines() if line.strip()]


def _lines_match(printed: list[str], shown: list[str]) -> bool:
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(_lines_match(printed[skipped:], shown[1:]) for skipped in range(len(printed) + 1))
    return bool(printed) and _line_matches(printed[0], shown[0]) and _lines_match(printed[1:], shown[1:])


def _line_matches(printed: str, shown: str) -> bool:
    if NUMBER.split(printed) != NUMBER.split(shown):
        return False
    pairs = zip(NUMBER.findall(printed), NUMBER.findall(shown), strict=True)
    return all(abs(float(a) - float(b)) <= TOLERANCE * max(1, abs(float(b))) for a, b in pairs)


# ---- files that pages begin with ----


def write_people(folder: Path) -> None:
    """90 people of three departments: who knows whom, ages, offices; every third department is known."""
    import numpy as np

    rng = np.random.default_rng(0)
    departments, offices = ["sales", "research", "support"], ["north", "south", "west"]
    of = np.arange(90) % 3
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "age", "office", "department"])
        for i, department in enumerate(of):
            known = departments[department] if i % 9 < 3 else ""
            office = offices[department if rng.random() < 0.8 else rng.integers(3)]
            writer.writerow([f"p{i}", int(rng.normal([38, 45, 33][department], 6)), office, known])
    with (folder / "features.csv").open("w", newline="") as file:
        rows = [(f"p{i}", int(rng.normal([38, 45, 33][of[i]], 6))) for i in range(90)]
        csv.writer(file, lineterminator="\n").writerows([("id", "age"), *rows])
    pairs = rng.integers(90, size=(1000, 2))
    pairs = pairs[(of[pairs[:, 0]] == of[pairs[:, 1]]) | (rng.random(1000) < 0.1)][:350]
    with (folder / "knows.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("source", "target"), *((f"p{a}", f"p{b}") for a, b in pairs)])
    with (folder / "labels.csv").open("w", newline="") as file:
        known_rows = [(f"p{i}", departments[of[i]]) for i in range(90) if i % 9 < 3]
        csv.writer(file, lineterminator="\n").writerows([("id", "department"), *known_rows])


def write_edges(folder: Path) -> None:
    """The novel, under the names edges.csv, labels.csv and grown.csv."""
    write_novel(folder)
    (folder / "meetings.csv").rename(folder / "edges.csv")
    (folder / "circles.csv").rename(folder / "labels.csv")


FILES: dict[str, Callable[[Path], None]] = {
    "novel": write_novel,
    "shop": write_shop,
    "people": write_people,
    "edges": write_edges,
}
