"""Methods on the public split of Cora, Citeseer and Pubmed with node features, beside the figures of their authors.

    python benchmarks/public_split.py [--methods gcn,gat,sgc] [--data cora-planetoid,citeseer-planetoid,pubmed]
                                      [--seeds 20] [--device auto] [--processes 1] [--out public_split.jsonl]

Each fit learns from the 20 training labels of each class, and is given the 500 validation labels to choose by (when to
stop, which epoch); the score is accuracy on the 1,000 test nodes. SETTINGS has what the authors change for a data set.
A method may be a spec, such as gcnii:layers=8, which is then taken as it is. What is done is kept in a file, and not
done again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections import defaultdict
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from pine.datasets import Dataset, load
from pine.evaluation.variants import parse

DATA = ("cora-planetoid", "citeseer-planetoid", "pubmed")
# Test accuracy in per cent, in the order of DATA: from each method's own paper, that of the MLP from GCN's and that of
# APPNP, whose authors have other splits, from GCNII's.
AUTHORS: dict[str, tuple[float, float, float]] = {
    "mlp": (55.1, 46.5, 71.4),
    "gcn": (81.5, 70.3, 79.0),
    "gat": (83.0, 72.5, 79.0),
    "sgc": (81.0, 71.9, 78.9),
    "appnp": (83.3, 71.8, 80.1),
    "gcnii": (85.5, 73.4, 80.3),
    "grand": (85.4, 75.4, 82.7),
}
METHODS = ("logistic-regression", *AUTHORS)
# Settings of the authors' code where they are not the method's defaults.
SETTINGS = {
    ("gat", "pubmed"): "output_heads=8:weight_decay=0.001:learning_rate=0.01",
    ("sgc", "cora-planetoid"): "weight_decay=1.3e-5",
    ("sgc", "citeseer-planetoid"): "weight_decay=2.4e-5",
    ("sgc", "pubmed"): "weight_decay=7.4e-5",
    ("gcnii", "citeseer-planetoid"): "layers=32:dim=256:lam=0.6:dropout=0.7",
    ("gcnii", "pubmed"): "layers=16:dim=256:lam=0.4:dropout=0.5:weight_decay=5e-4",
    ("grand", "citeseer-planetoid"): "hops=2:samples=2:lam=0.7:temperature=0.3:input_dropout=0:dropout=0.2",
    ("grand", "pubmed"): (
        "hops=5:temperature=0.2:input_dropout=0.6:dropout=0.8:learning_rate=0.2:patience=100:batch_norm=true"
    ),
}

Run = tuple[str, str, int]  # spec, data set, seed
dataset = cache(load)


def spec_of(method: str, data: str) -> str:
    """A method with the authors' settings for a data set."""
    return ":".join(filter(None, (method, SETTINGS.get((method, data)))))


def measured(run: Run, device: str) -> dict[str, Any]:
    """One fit: test accuracy, and seconds without those of loading."""
    spec, name, seed = run
    data: Dataset = dataset(name)
    truth, graph = np.asarray(data.labels), data.with_features()
    labels = np.full(len(truth), -1)
    for part in ("train", "val"):
        labels[data.splits[part]] = truth[data.splits[part]]
    validation = np.zeros(len(truth), bool)
    validation[data.splits["val"]] = True
    model = parse(spec).new(seed)
    known = model.get_params()
    model.set_params(**{key: value for key, value in {"device": device, "threads": 1}.items() if key in known})
    begin = time.perf_counter()
    model.fit(graph, labels, validation=validation)
    seconds = time.perf_counter() - begin
    right = model.predict() == truth
    scores = {part: float(right[data.splits[part]].mean()) for part in ("val", "test")}
    return {"spec": spec, "data": name, "seed": seed, **scores, "seconds": round(seconds, 2)}


def kept(path: Path) -> dict[Run, dict[str, Any]]:
    """What is done; the last line may have been interrupted."""
    found = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            each = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[each["spec"], each["data"], each["seed"]] = each
    return found


def show(methods: list[str], names: list[str], seeds: int, done: dict[Run, dict[str, Any]]) -> None:
    """A table with a row for each method and data set."""
    groups = defaultdict(list)
    for (spec, name, seed), each in done.items():
        if seed < seeds:
            groups[spec, name].append(each)
    print("| method | data | test accuracy | authors | seeds | seconds |\n|---|---|---|---|---|---|")
    for method in methods:
        for name in names:
            if group := groups[spec := spec_of(method, name), name]:
                test = 100 * np.array([each["test"] for each in group])
                theirs = AUTHORS[method][DATA.index(name)] if method in AUTHORS and name in DATA else "-"
                seconds = np.mean([each["seconds"] for each in group])
                score = f"{test.mean():.1f} ±{test.std(ddof=min(1, len(test) - 1)):.1f}"
                print(f"| {spec} | {name} | {score} | {theirs} | {len(test)} | {seconds:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--data", default=",".join(DATA))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("public_split.jsonl"))
    given = parser.parse_args()
    methods, names = given.methods.split(","), given.data.split(",")
    done = kept(given.out)
    runs = [(spec_of(method, name), name, seed) for seed in range(given.seeds) for name in names for method in methods]
    todo = [run for run in runs if run not in done]
    context = multiprocessing.get_context("spawn")  # a fork would not have CUDA
    if given.out.exists() and not given.out.read_text().endswith("\n"):
        given.out.write_text(given.out.read_text() + "\n")  # the interrupted line ends here
    with given.out.open("a") as out, context.Pool(given.processes) as pool:
        for each in pool.imap_unordered(partial(measured, device=given.device), todo):
            done[each["spec"], each["data"], each["seed"]] = each
            print(json.dumps(each), file=out, flush=True)
            print(f"{each['spec']} {each['data']} {each['seed']}: {each['test']:.3f}, {each['seconds']} s", flush=True)
    show(methods, names, given.seeds, done)


if __name__ == "__main__":
    main()
