"""The one training loop: Adam on everything at once, a history, and a stop with a sentence when numbers blow up."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from pine.errors import InputError
from pine.model.objective import Objective

RAMP = 100  # epochs until unlabelled nodes' own predictions count in full


def train(
    objective: Objective,
    epochs: int,
    rate: float,
    vector_rate: float,
    generator: torch.Generator,
    *,
    at: Iterable[int] = (),
    visit: Callable[[int], bool] | None = None,
    tick: Callable[[], None] | None = None,
) -> list[dict[str, float]]:
    """Train for some epochs; visit(epoch) is asked at the given ones, with dropout off, whether to go on.

    Returns the parts of the loss epoch by epoch, averaged over the models trained side by side.
    """
    stops = set(at)
    own = [parameter for name, parameter in objective.named_parameters() if name != "x"]
    groups = [{"params": [objective.x], "lr": vector_rate}, {"params": own, "lr": rate}]
    optimizer = torch.optim.Adam(groups, betas=(0.9, 0.99), fused=True)
    history: list[dict[str, float]] = []
    for epoch in range(1, epochs + 1):
        objective.train()
        loss, parts = objective.loss(generator, min(1.0, epoch / RAMP))
        total = loss.sum()
        if not torch.isfinite(total):
            raise InputError(
                f"training diverged in epoch {epoch}: the loss is {float(total)} ({parts}); "
                "lower learning_rate, or scale the edge weights down"
            )
        optimizer.zero_grad(set_to_none=True)
        total.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        history.append(parts)
        if visit is not None and epoch in stops:
            objective.eval()
            if not visit(epoch):
                break
        if tick is not None:
            tick()
    objective.eval()
    return history
