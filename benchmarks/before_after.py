"""What a change of PINE does to its scores, split by split: the rows of one method in two folders of `pine evaluate`.

    python benchmarks/before_after.py results/evaluate results/evaluate/after [--method pine]

Difference: mean over the splits that both have, ± its standard error.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

Cell = tuple[str, float]


def scores(folder: Path, method: str) -> dict[Cell, dict[int, float]]:
    """Accuracy, or micro F1, of every data set and ratio, by repeat."""
    found: dict[Cell, dict[int, float]] = {}
    for file in sorted(folder.glob("*.json")):
        for row in json.loads(file.read_text()):
            if row["method"] == method:
                score = row["accuracy"] if "accuracy" in row else row["micro_f1"]
                found.setdefault((row["dataset"], row["ratio"]), {})[row["repeat"]] = score
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--method", default="pine")
    given = parser.parse_args()
    before, after = scores(given.before, given.method), scores(given.after, given.method)
    print("| data | labeled | splits | before | after | difference, points |\n|---|---|---|---|---|---|")
    differences = []
    for cell in sorted(set(before) & set(after)):
        repeats = sorted(set(before[cell]) & set(after[cell]))
        old, new = (100 * np.array([side[cell][repeat] for repeat in repeats]) for side in (before, after))
        error = (new - old).std(ddof=1) / np.sqrt(len(repeats)) if len(repeats) > 1 else np.nan
        differences.append((new - old).mean())
        name, ratio = cell
        print(
            f"| {name} | {ratio:.0%} | {len(repeats)} | {old.mean():.2f} | {new.mean():.2f} "
            f"| {differences[-1]:+.2f} ± {error:.2f} |"
        )
    print(f"\nMean of the {len(differences)} differences: {np.mean(differences):+.2f}.")


if __name__ == "__main__":
    main()
