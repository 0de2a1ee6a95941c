"""How much of a score is the seed, and what another machine makes of the same one.

    python benchmarks/seeds.py [--methods pine,gcn,gat] [--data cora,wikipedia,email-eu] [--ratio 0.5] [--seeds 10]
                               [--splits 10] [--machines cpu:1,cpu:2,cuda] [--out seeds.jsonl]

Three deviations of accuracy in points, on the first machine: over seeds on one split, over splits with one seed, and
over splits with a seed each, as in the tables. Then, for each other machine (device:threads), the same seeds on the
same split again: how many predictions differ, and how much the accuracy does. What is done is kept in a file.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.datasets import load
from pine.evaluation.protocol import Part, hide
from pine.evaluation.variants import parse
from pine.labels import read_labels

dataset = cache(load)


@dataclass(frozen=True)
class Fit:
    """What is fitted, on which split, with which seed, and where."""

    method: str
    data: str
    ratio: float
    split: int
    seed: int
    machine: str

    def predictions(self) -> tuple[NDArray[Any], float]:
        """The classes of the test nodes, and their accuracy."""
        data = dataset(self.data)
        labels = read_labels(data.graph, data.labels)
        nodes = Part(self.ratio, self.split).split(data.name, labels.known)
        device, _, threads = self.machine.partition(":")
        variant = parse(f"{self.method}:device={device}:threads={threads or 1}")
        model = variant.new(self.seed).fit(data.graph, hide(labels, nodes.train, data.graph.num_nodes))
        found = np.asarray(model.predict())[nodes.test]
        return found, float((found == np.asarray(data.labels)[nodes.test]).mean())


def fits(given: argparse.Namespace) -> Iterator[Fit]:
    """Every fit once: on the first machine over seeds and splits, on the others over seeds."""
    first = given.machines[0]
    for method in given.methods:
        for data in given.data:
            over = [(0, seed, machine) for machine in given.machines for seed in range(given.seeds)]
            over += [(split, seed, first) for split in range(1, given.splits) for seed in {0, split}]
            yield from (Fit(method, data, given.ratio, *each) for each in over)


def words(text: str) -> list[str]:
    return text.split(",")


def deviation(values: Sequence[float]) -> str:
    return f"{100 * np.std(values, ddof=1):.2f}"


def table(done: dict[Fit, dict[str, Any]], given: argparse.Namespace) -> str:
    """A line for each method and data set."""
    first, *others = given.machines
    head = ["method", "data", "over seeds", "over splits, one seed", "over splits, a seed each"]
    head += [f"{machine} for {first}: predictions that differ, accuracy" for machine in others]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for method, data in product(given.methods, given.data):
        made = partial(Fit, method, data, given.ratio)
        cells = [
            deviation([done[made(0, seed, first)]["accuracy"] for seed in range(given.seeds)]),
            deviation([done[made(split, 0, first)]["accuracy"] for split in range(given.splits)]),
            deviation([done[made(split, split, first)]["accuracy"] for split in range(given.splits)]),
        ]
        for machine in others:
            pairs = [(done[made(0, seed, first)], done[made(0, seed, machine)]) for seed in range(given.seeds)]
            differ = np.mean([np.mean(np.not_equal(a["classes"], b["classes"])) for a, b in pairs])
            gap = [100 * (b["accuracy"] - a["accuracy"]) for a, b in pairs]
            cells.append(f"{100 * differ:.1f} %, {np.mean(gap):+.2f} ±{np.std(gap, ddof=1):.2f}")
        lines.append(f"| {' | '.join([method, data, *cells])} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default="pine,gcn,gat", type=words)
    parser.add_argument("--data", default="cora,wikipedia,email-eu", type=words)
    parser.add_argument("--machines", default="cpu:1,cpu:2", type=words)
    parser.add_argument("--ratio", type=float, default=0.5)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("seeds.jsonl"))
    given = parser.parse_args()
    done: dict[Fit, dict[str, Any]] = {}
    if given.out.exists():
        kept = map(json.loads, given.out.read_text(encoding="utf-8").splitlines())
        done = {Fit(**each["fit"]): each["result"] for each in kept}
    for fit in dict.fromkeys(fits(given)):
        if fit not in done:
            classes, accuracy = fit.predictions()
            done[fit] = {"accuracy": accuracy, "classes": classes.tolist()}
            with given.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"fit": vars(fit), "result": done[fit]}) + "\n")
    print(table(done, given))


if __name__ == "__main__":
    main()
