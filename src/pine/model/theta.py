"""theta, the linear classifier w, b that x and f share, and where it begins: logistic regression on the start.

    mean over known v of l(w x_v + b, y_v)  +  decay ||w||^2

is convex; its minimum is found by Nesterov's method, whose step comes from the largest eigenvalue of the covariance of
x: no line search, the same bits every time. Numbers have ridge regression, by the same loop.
"""

from __future__ import annotations

import torch
from torch import Tensor

from pine.distributed.ranks import ALONE, Ranks
from pine.nn.captured import captured
from pine.nn.functional import probabilities
from pine.nn.targets import Targets

DECAY = 0.005  # of the regression on the start; between .001 and .01 all data sets are level
REST_DECAY = 4.0  # the same times the number of labels, where nothing is trained after it and labels are many
REGRESSION_STEPS = 100
ROWS_AT_A_TIME = 1 << 16  # on a CPU: scores of all labels at once would be more than the vectors
# The most that the second derivative of a loss is, in its score.
CURVATURE = {"classes": 0.5, "label-sets": 0.25, "numbers": 2.0}


def scores(vectors: Tensor, w: Tensor, b: Tensor) -> Tensor:
    """w (..., num_outputs, dim) and b (..., 1, num_outputs) on vectors (n, dim): (..., n, num_outputs)."""
    return vectors @ w.mT + b


def predictions(task: str, w: Tensor, b: Tensor, x: Tensor, f: Tensor, *, trained: bool = True) -> Tensor:
    """The mean of theta on x and theta on f, as probabilities or numbers: (n, num_outputs).

    Without training it is theta on x alone: f, which only reproduces x, is worse by 1 to 6 points. Not so for numbers,
    where the mean is what keeps a regression on few labels small.
    """
    by_x = probabilities(task, scores(x, w, b))
    return (by_x + probabilities(task, scores(f, w, b))) / 2 if needs_f(task, trained=trained) else by_x


def needs_f(task: str, *, trained: bool) -> bool:
    """Whether predictions look at f."""
    return trained or task == "numbers"


def rest_decay(seen: Tensor, ranks: Ranks = ALONE) -> float:
    """Of a regression that stays as it is, on labels that are seen: (..., num_known)."""
    return min(DECAY, REST_DECAY / max(1.0, float(ranks.total(seen.sum(-1)).max())))


@torch.no_grad()
def decay_rates(targets: Targets, seen: Tensor, ranks: Ranks = ALONE) -> Tensor:
    """Of a label of sets 4 p (1 - p), p the share of the seen nodes that have it: (num_outputs, 1).

    The loss of a label curves as p (1 - p): by one lambda_w for all, the weights of rare labels would stay near zero.
    For training alone; in regression, whose decay is far weaker, it costs accuracy.
    """
    have, all_seen = ranks.totals(seen @ targets.indicators().to(seen.dtype), seen.sum())
    p = (have + 0.5) / (all_seen + 1)
    return (4 * p * (1 - p))[:, None]


@torch.no_grad()
def regression(
    x: Tensor, targets: Targets, seen: Tensor, decay: float = DECAY, ranks: Ranks = ALONE
) -> tuple[Tensor, Tensor]:
    """w (..., num_outputs, dim) and b (..., 1, num_outputs) of the labels that are seen.

    x: (num_nodes, dim). seen: (..., num_known), how much each known node counts. ranks: that share the nodes.
    """
    known = x[targets.positions]  # a copy
    count = int(ranks.total(torch.tensor(len(known), device=x.device)))
    center = known.mean(0) if ranks is ALONE else ranks.total(known.sum(0)) / count
    known -= center
    top = float(torch.linalg.eigvalsh((ranks.total(known.mT @ known) / max(1, count)).double())[-1])
    weights = seen / ranks.total(seen.sum(-1, keepdim=True))
    # The known nodes that are seen may vary more than all of them.
    smooth = CURVATURE[targets.task] * max(1.0, 1.5 * top) + 2 * decay
    root = (2 * decay / smooth) ** 0.5
    momentum = (1 - root) / (1 + root)
    w = x.new_zeros(*seen.shape[:-1], targets.num_outputs, x.shape[1])
    b = x.new_zeros(*seen.shape[:-1], 1, targets.num_outputs)
    ahead_w, ahead_b = w.clone(), b.clone()

    size = ROWS_AT_A_TIME if x.device.type == "cpu" else max(1, len(known))
    blocks = [slice(lo, lo + size) for lo in range(0, max(1, len(known)), size)]
    some = [targets.some(rows) for rows in blocks]

    def slopes(rows: slice, of: Targets) -> tuple[Tensor, Tensor]:
        slope = of.loss_slope(probabilities(targets.task, scores(known[rows], ahead_w, ahead_b)), weights[..., rows])
        return slope.mT @ known[rows], slope.sum(-2, keepdim=True)

    def step() -> Tensor:
        total_w, total_b = slopes(blocks[0], some[0])
        for rows, of in zip(blocks[1:], some[1:], strict=True):
            more_w, more_b = slopes(rows, of)
            total_w, total_b = total_w + more_w, total_b + more_b
        slope_w, slope_b = ranks.totals(total_w, total_b)
        new_w = ahead_w - (slope_w + 2 * decay * ahead_w) / smooth
        new_b = ahead_b - slope_b / smooth
        ahead_w.copy_(new_w + momentum * (new_w - w))
        ahead_b.copy_(new_b + momentum * (new_b - b))
        w.copy_(new_w)
        return b.copy_(new_b)

    do = captured(step, x.device, len(known)) if ranks is ALONE else step
    for _ in range(REGRESSION_STEPS):
        do()
    return w, b - (w @ center)[..., None, :]
