"""Link prediction: methods on splits of a graph's edges, each fitted to the training graph alone, without labels."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterator, Sequence

import numpy as np

from pine.embedder import Embedder
from pine.errors import InputError
from pine.evaluation.link_specs import AUTO_SCORES, COMBINED_HEURISTICS, LinkSpec
from pine.evaluation.results import Key, Result
from pine.graph import Graph
from pine.graph.nodes import Relation
from pine.links.heuristics import HEURISTICS
from pine.links.measures import HITS_AT, auc, average_precision, hits_at, mrr, ranks_of
from pine.links.pairs import check_relation_of
from pine.links.scorers import LinkModel, PairScorer, scorer
from pine.links.split import LinkSplit, hold_out

LINK_SCORES = ("auc", "average_precision", f"hits_at_{HITS_AT}", "mrr")
LINKS_REVISION = 1  # of splits, scorers and measures: kept results go by it

SplitEdges = Callable[[float, int], LinkSplit]  # by the share of edges held out, and the repeat


def evaluate_links(
    name: str,
    graph: Graph,
    specs: Sequence[LinkSpec],
    shares: Sequence[float],
    repeats: int,
    done: Container[Key] = (),
    relation: Relation | None = None,
    split: SplitEdges | None = None,
) -> Iterator[Result]:
    """Scores of every spec on every split, but for those done; the repeat is the seed of split and method.

    shares: of the edges, held out for the test; half as many are for validation. relation: whose edges are held out;
    None: the only one there is. split: makes the splits; None: uniformly.
    """
    relation = check_relation_of(graph, relation)
    if repeats < 1:
        raise InputError(f"repeats must be at least 1, got {repeats}")

    def uniform(share: float, repeat: int) -> LinkSplit:
        return hold_out(graph, repeat, test=share, valid=share / 2, relation=relation)

    make = split or uniform
    for share in shares:
        make(share, 0)  # refused now rather than half-way
    for share in shares:
        for repeat in range(repeats):
            wanted = [spec for spec in specs if (spec.name, share, repeat, bool(graph.features)) not in done]
            parts = make(share, repeat) if wanted else None
            for key in dict.fromkeys(spec.fit_key for spec in wanted):
                own = [spec for spec in wanted if spec.fit_key == key]
                assert parts is not None
                for spec, scores, seconds in score_links(parts, own, repeat):
                    yield Result(name, spec.name, share, repeat, scores, seconds, bool(graph.features))


def score_links(
    split: LinkSplit, specs: Sequence[LinkSpec], seed: int, threads: int | None = None
) -> Iterator[tuple[LinkSpec, dict[str, float], float]]:
    """Specs that share a fit on one split: their scores, and the seconds of the fit and of the scoring."""
    variant, begin = specs[0].variant, time.perf_counter()

    def fitted(some: Graph) -> Embedder:
        assert variant is not None
        return variant.new(seed).fit(some)

    model = None if variant is None else fitted(split.graph)
    fitting = time.perf_counter() - begin
    whole = LinkModel(
        None if model is None else model.pair_vectors(),
        split.graph,
        split.relation,
        lambda some: fitted(some).pair_vectors(),
        seed,
        threads,
    )
    for spec in specs:
        begin = time.perf_counter()
        scores = measured(split, _scorer_of(spec, split, whole))
        yield spec, scores, fitting + time.perf_counter() - begin


def _scorer_of(spec: LinkSpec, split: LinkSplit, model: LinkModel) -> PairScorer:
    if spec.score in HEURISTICS:
        links = split.graph.links()
        return lambda pairs: HEURISTICS[spec.score](links, pairs)
    if spec.score == COMBINED_HEURISTICS:
        return scorer("combined", model)
    if spec.score != "auto":
        return scorer(spec.score, model)
    made = [scorer(each, model) for each in AUTO_SCORES]
    if not len(split.valid):
        return made[0]
    found = [auc(each(split.valid), each(split.valid_negatives)) for each in made]
    return made[int(np.argmax(found))]


def measured(split: LinkSplit, score: PairScorer) -> dict[str, float]:
    """AUC and average precision against the negatives; hits@k and MRR against the rivals of each test edge."""
    positives, negatives = score(split.test), score(split.test_negatives)
    count, rivals = split.rivals.shape
    against = score(np.column_stack([np.repeat(split.ranked, rivals), split.rivals.ravel()])).reshape(count, rivals)
    ranks = ranks_of(positives, against)
    found = (auc(positives, negatives), average_precision(positives, negatives), hits_at(HITS_AT, ranks), mrr(ranks))
    return dict(zip(LINK_SCORES, found, strict=True))
