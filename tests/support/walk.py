"""A walk over users' own files, command by command: what docs/walk.md shows and tests/cli/test_walk.py runs.

Commands are lines of a shell ("pine ...", "head ...") or of Python (">>> ..."). One that ends with "# Ctrl-C" runs in a
process of its own and is stopped while it trains.
"""

from __future__ import annotations

import contextlib
import csv
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from support.command_line import pine_transcript

DOCUMENT = Path(__file__).parents[2] / "docs" / "walk.md"
STOP = "# Ctrl-C"
# Progress tells of every epoch, so that it is known when to stop.
STOPPED = "import pine.cli.progress as p; p.LINE_EVERY = 0.0; from pine.cli import main; main()"
PROGRESS = re.compile(r": ([\d,]+) of [\d,]+, ")
# Numbers, and what is chosen by scores.
DIFFERENT = re.compile(r"\d+(?:\.\d+)? [kMGT]B|[-+±]?\d+\.\d+|chosen: .*|\"date\": \".*?\"|\"versions\": {.*?}")

Pair = tuple[str, str]  # a command and what it prints


@dataclass(frozen=True)
class Section:
    """Files in a folder, and paragraphs with the commands below them; data: what the benchmark data must hold."""

    title: str
    write_files: Callable[[Path, Path | None], None]
    steps: Sequence[tuple[str, Sequence[str]]]
    data: str | None = None

    @property
    def commands(self) -> list[str]:
        return [command for _, commands in self.steps for command in commands]


# ---- files ----

GROUPS = {
    "barricade": "Enjolras Combeferre Courfeyrac Feuilly Bahorel Bossuet Joly Grantaire Prouvaire Gavroche Mabeuf",
    "Digne": "Myriel MlleBaptistine MmeMagloire Napoleon CountessDeLo Geborand Champtercier Cravatte Count OldMan",
    "Paris 1817": "Tholomyes Listolier Fameuil Blacheville Favourite Dahlia Zephine Fantine",
    "Patron-Minette": "Thenardier MmeThenardier Gueulemer Babet Claquesous Montparnasse Brujon Eponine",
    "trial": "Bamatabois Judge Champmathieu Brevet Chenildieu Cochepaille",
    "Gillenormand": "Gillenormand MlleGillenormand LtGillenormand Pontmercy BaronessT Magnon Marius",
}
UNKNOWN = {"Prouvaire", "Feuilly", "Count", "Dahlia", "Brujon", "Brevet", "Magnon"}


def _write(path: Path, rows: Iterable[Sequence[Any]], delimiter: str = ",") -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)


def write_novel(folder: Path, data: Path | None = None) -> None:
    """Who meets whom in Les Miserables, how often, and in which circle; nobody knows the circle of some."""
    graph = nx.les_miserables_graph()
    edges = [(a, b, about["weight"]) for a, b, about in graph.edges(data=True)]
    circles = {name: circle for circle, names in GROUPS.items() for name in names.split() if name not in UNKNOWN}
    _write(folder / "meetings.csv", [("source", "target", "weight"), *edges])
    _write(folder / "counts.csv", [("source", "target", "count"), *edges])
    _write(folder / "bare.tsv", edges, "\t")
    _write(folder / "circles.csv", [("name", "circle"), *((name, circles.get(name, "")) for name in graph)])
    places = {name: "Paris;" * (graph.degree(name) > 6) + circle for name, circle in circles.items()}
    _write(folder / "places.csv", [("name", "places"), *places.items()])
    _write(
        folder / "grown.csv", [("source", "target", "weight"), *edges, ("Azelma", "Eponine", 3), ("Azelma", "Babet", 1)]
    )
    (folder / "settings.toml").write_text("dim = 16\nlam = 20.0\n\n[training]\ndropout = 0.2\n")


def write_shop(folder: Path, data: Path | None = None) -> None:
    """Users buy and follow, products have brands; tastes are known of some users, several of a few."""
    rng = np.random.default_rng(0)
    tastes = ["sport", "kitchen", "books"]
    users, products = [f"user {i}" for i in range(60)], [f"P{i:03d}" for i in range(45)]
    brands = ["Acme:tools", "Böhm & Co", "[Kite]", "Nord", "Sol", "Vela"]
    of_users, of_products, of_brands = rng.integers(0, 3, 60), np.arange(45) % 3, np.arange(6) % 3

    def pick(taste: int, of: Any) -> int:
        return int(rng.choice(np.flatnonzero(of == taste))) if rng.random() < 0.85 else int(rng.integers(len(of)))

    buys, follows = [], []
    for i, user in enumerate(users):
        for product in sorted({pick(of_users[i], of_products) for _ in range(5)}):
            buys.append((user, products[product], int(rng.integers(1, 6))))
        for other in sorted({pick(of_users[i], of_users) for _ in range(2)} - {i}):
            follows.append((user, users[other]))
    _write(folder / "buys.csv", [("user", "product", "rating"), *buys])
    _write(folder / "follows.csv", follows)
    made_by = [(product, brands[pick(of_products[i], of_brands)]) for i, product in enumerate(products)]
    _write(folder / "made_by.tsv", [("product", "brand"), *made_by], "\t")
    known = [
        (user, tastes[of_users[i]] + "|gifts" * (i % 5 == 0) if i % 4 else "") for i, user in enumerate(users[:40])
    ]
    _write(folder / "tastes.csv", [("user", "tastes"), *known])


def write_pages(folder: Path, data: Path | None = None) -> None:
    """Pages of Wikipedia about chameleons: links, and the logarithm of monthly visits of every second page."""
    assert data is not None
    with np.load(data / "chameleon.npz", allow_pickle=False) as arrays:
        np.savetxt(folder / "links.txt", arrays["edges"], fmt="%d")
        visits = [(page, f"{visits:.3f}") for page, visits in enumerate(arrays["targets"]) if page % 2]
    _write(folder / "visits.csv", [("page", "log_visits"), *visits])


# ---- the walk ----

RELATIONS = ("user:buys:product=buys.csv", "product:made_by:brand=made_by.tsv", "user:follows:user=follows.csv")
SHOP = " ".join(f"--relation {relation}" for relation in RELATIONS)
LONG = "pine train meetings.csv --labels circles.csv --out long --dim 16 --epochs 300 --threads 1"

WALK = {
    "novel": Section(
        "Names and weights: Les Misérables",
        write_novel,
        [
            (
                "Who meets whom in the novel, how often, and the circle that some belong to. An empty cell is a circle "
                "that nobody knows.",
                ["head -3 meetings.csv circles.csv", "pine train meetings.csv --labels circles.csv --out run"],
            ),
            (
                "A prediction for whom the file said nothing:",
                [
                    "pine predict run --unlabeled --out predicted.csv",
                    "head -4 predicted.csv",
                    "pine predict run --out predicted.xlsx",
                ],
            ),
            (
                "Who is nearest, and the vectors for other tools; the ending says the format:",
                [
                    "pine neighbors run Valjean -k 3",
                    'pine neighbors run "Jean Valjean" -k 3',
                    "pine export run --out vectors.npy",
                    "pine export run --out vectors.txt --format parquet",
                    "pine export run --out points.tsv --format projector",
                ],
            ),
            (
                "Nodes that came later, without training:",
                [
                    "pine embed run grown.csv --out grown.parquet",
                    "pine predict run grown.csv --unlabeled --out grown.jsonl",
                ],
            ),
            ("What the run was made from:", ["ls run", "head -5 run/run.json"]),
            (
                "A third column that may be weights is asked for, with a header or without:",
                [
                    "pine train counts.csv --labels circles.csv --out other --quick",
                    "pine train bare.tsv --labels circles.csv --out other --quick",
                    "pine train bare.tsv --labels circles.csv --out other --quick --weight 2 --no-header",
                ],
            ),
            (
                "Several labels in a cell:",
                [
                    "pine train meetings.csv --labels places.csv --out places --quick",
                    "pine train meetings.csv --labels places.csv --out places --quick --overwrite --separator ';'",
                ],
            ),
            (
                "Settings by option, by name, or from a file; a run is replaced only if that is said:",
                [
                    "cat settings.toml",
                    "pine train meetings.csv --labels circles.csv --out run --config settings.toml --set epochs=20",
                    "pine train meetings.csv --labels circles.csv --out small --config settings.toml --set epoch=20",
                    "pine train meetings.csv --labels circles.csv --out small --config settings.toml --set epochs=20",
                ],
            ),
            ("For scripts:", ["pine train meetings.csv --out plain --quick --json"]),
            (
                "What is worth its price on this graph:",
                ["pine evaluate meetings.csv --labels circles.csv --methods quick --ratios 0.5 --repeats 3"],
            ),
            (
                "Stopped by Ctrl-C, and gone on:",
                [
                    f"{LONG}  {STOP}",
                    LONG,
                ],
            ),
            (
                "The same in Python:",
                [
                    ">>> import pine",
                    '>>> graph = pine.Graph.from_edges("meetings.csv")',
                    '>>> circles = pine.io.read_label_file("circles.csv", graph)',
                    ">>> model = pine.PINE(dim=16, epochs=20)",
                    ">>> model",
                    ">>> model.fit(graph, circles)",
                    ">>> model.choice_",
                    ">>> model.score_",
                    ">>> model.history_[-1]",
                    '>>> model.predict(["Count", "Brujon"])',
                    '>>> model.vectors("Valjean").shape',
                    '>>> model.most_similar(["Valjean", "Javert"], k=1)',
                    ">>> model.to_frame().shape",
                    ">>> import pickle",
                    ">>> (pickle.loads(pickle.dumps(model)).predict() == model.predict()).all()",
                    ">>> pine.NodeClassifier(graph)",
                    '>>> pine.PINE.load("small")',
                ],
            ),
        ],
    ),
    "shop": Section(
        "Several node types: a shop",
        write_shop,
        [
            (
                "Users buy products and follow each other, products have brands. The tastes of some users are known, "
                "of a few several.",
                [
                    "head -3 buys.csv made_by.tsv follows.csv tastes.csv",
                    f"pine train {SHOP} --labels tastes.csv --out shop",
                    f"pine train {SHOP} --labels tastes.csv --out shop --weight rating --separator '|' --epochs 50",
                ],
            ),
            (
                "Tastes of the others, products near a user, users near a brand; names are printed as they are:",
                [
                    "pine predict shop --unlabeled --out tastes.parquet",
                    'pine neighbors shop "user 1" -k 3 --to product',
                    "pine neighbors shop [Kite] -k 2 --to user",
                    'pine neighbors shop "user 1" --to prodct',
                    "pine export shop --out shop.csv",
                    f"pine embed shop {SHOP} --weight rating --out again.tsv",
                ],
            ),
            (
                "What is worth its price here, without the ratings:",
                [
                    f"pine evaluate {SHOP} --no-weight --labels tastes.csv --separator '|' --methods quick "
                    "--ratios 0.5 --repeats 2",
                ],
            ),
        ],
    ),
    "pages": Section(
        "Numbers: visits of Wikipedia's pages",
        write_pages,
        [
            (
                "Links between pages about chameleons, and the logarithm of the monthly visits of every second one. "
                "Labels with decimals are numbers.",
                [
                    "head -3 links.txt visits.csv",
                    "pine train links.txt --labels visits.csv --out wiki --dim 32 --epochs 30",
                    "pine predict wiki --unlabeled --out visits.jsonl",
                    "head -2 visits.jsonl",
                    "pine neighbors wiki 7 -k 2",
                    "pine evaluate links.txt --labels visits.csv --methods quick --ratios 0.5 --repeats 2",
                ],
            ),
        ],
        "chameleon.npz",
    ),
}


# ---- running it ----


def walked(section: Section, folder: Path, data: Path | None = None) -> list[Pair]:
    """Each command with what it prints, in a folder with the section's files."""
    section.write_files(folder, data)
    names: dict[str, Any] = {}
    return [(command, _printed(command, folder, names)) for command in section.commands]


def _printed(command: str, folder: Path, names: dict[str, Any]) -> str:
    if command.startswith(">>> "):
        return _python(command.removeprefix(">>> "), folder, names)
    words = shlex.split(command, comments=True)
    if words[0] != "pine":
        return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout
    return _stopped(words[1:], folder) if command.endswith(STOP) else pine_transcript(*words[1:], cwd=folder)


def _python(line: str, folder: Path, names: dict[str, Any]) -> str:
    """What an interactive Python prints."""
    with contextlib.chdir(folder):
        try:
            value = eval(line, names)
        except SyntaxError:  # a statement
            exec(line, names)
            return ""
    return "" if value is None else f"{value!r}\n"


def _stopped(words: Sequence[str], folder: Path) -> str:
    """Of a process that gets Ctrl-C in the midst of its training; without the lines of progress."""
    command = [sys.executable, "-c", STOPPED, *words]
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, cwd=folder, **output) as process:  # type: ignore[call-overload]
        lines, stopped = [], False
        for line in process.stdout:
            lines.append(line)
            told = PROGRESS.search(line)
            if told and told[1] != "0" and not stopped:
                process.send_signal(signal.SIGINT)
                stopped = True
                lines.append("^C\n")
    return "".join(line for line in lines if not PROGRESS.search(line))


# ---- as a document ----

HEAD = """# A walk through the command line

Written by `python scripts/walk.py`, which runs these commands on files that
[tests/support/walk.py](../tests/support/walk.py) writes; [tests/cli/test_walk.py](../tests/cli/test_walk.py) runs them
again and compares. Seconds, memory and the last digits of scores differ from machine to machine.
"""


def document(outputs: dict[str, list[Pair]]) -> str:
    """The walk as Markdown, with what the commands of each section printed."""
    made = [HEAD]
    for name, section in WALK.items():
        printed = iter(outputs[name])
        made.append(f"## {section.title}\n")
        for text, commands in section.steps:
            pairs = [next(printed) for _ in commands]
            prompts = [command if command.startswith(">>> ") else f"$ {command}" for command, _ in pairs]
            block = "".join(f"{prompt}\n{output}" for prompt, (_, output) in zip(prompts, pairs, strict=True))
            made += [f"{text}\n", f"```\n{block}```\n"]
    return "\n".join(made)


def sections(text: str) -> list[list[Pair]]:
    """The commands of a document and what stands below them, section by section."""
    found = []
    for part in text.split("\n## ")[1:]:
        pairs: list[list[str]] = []
        for block in re.findall(r"^```\n(.*?)^```$", part, re.DOTALL | re.MULTILINE):
            for line in block.splitlines(keepends=True):
                if line.startswith(("$ ", ">>> ")):
                    pairs.append([line.removeprefix("$ ").rstrip("\n"), ""])
                else:
                    pairs[-1][1] += line
        found.append([(command, output) for command, output in pairs])
    return found


def comparable(command: str, output: str) -> list[str]:
    """What two machines print alike: words and counts, without scores, seconds, memory, versions and lines of tables.

    Whose vectors are nearest, and what is predicted, may hang on the last digit: of those the number of lines counts.
    """
    depends = command.startswith(("pine neighbors", "head", ">>> model")) and not output.startswith("error")
    if depends and not command.startswith("head -3"):
        return ["a line"] * output.count("\n")
    words = DIFFERENT.sub("...", re.sub("[─-╿]", " ", output))
    return [" ".join(line.split()) for line in words.splitlines() if line.strip()]
