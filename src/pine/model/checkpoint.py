"""The state of a fit under way, in one file: the same fit goes on from it after an interruption, to the same bits.

What comes before a training is made again from the seed. Kept are the vectors and parameters, Adam's moments, the
generators, the history, and what was found so far.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from pine._internal.files import atomic_write, half_written
from pine._internal.settings import plain_settings
from pine._version import __version__
from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels
from pine.model.selection import Choice, Scores

if TYPE_CHECKING:
    from pine.model.objective import Objective
    from pine.model.pine import PINE

EVERY = 60.0  # seconds between two writes
ABOUT = "pine"  # the entry of the file's header that holds everything but tensors


class Checkpoint:
    """A file for the fit of a key, or no file; stage: "choice" or "last", the training that the file is from."""

    def __init__(self, path: Path | None, key: str) -> None:
        self.path, self.key = path, key
        self.about, self.tensors = ({}, {}) if path is None or not path.exists() else _read(path, key)

    @property
    def choice(self) -> Choice | None:
        """The settings that were chosen, where the last training had begun."""
        return Choice.from_json(self.about["choice"]) if self.about.get("stage") == "last" else None

    def of(self, stage: str, rng: np.random.Generator, choice: Choice | None, found: Scores) -> Keeper:
        """Keep a training that is about to begin; rng and found (held-out scores by epoch) become what they were."""
        if self.about.get("stage") == stage:
            rng.bit_generator.state = self.about["rng"]
            found.update({int(epoch): scores for epoch, scores in self.about["found"].items()})
        chosen = None if choice is None else choice.as_json()
        about = {"key": self.key, "stage": stage, "rng": rng.bit_generator.state, "choice": chosen, "found": found}
        return Keeper(self, about)

    def remove(self) -> None:
        """The fit is done; a process that was killed may have left a half-written file beside its state."""
        if self.path is not None:
            for file in (self.path, *half_written(self.path)):
                file.unlink(missing_ok=True)


class Keeper:
    """Writes the state of one training, and gives it back."""

    def __init__(self, checkpoint: Checkpoint, about: dict[str, Any]) -> None:
        self.checkpoint, self.about = checkpoint, about
        self.written = time.monotonic()

    def restore(
        self, objective: Objective, optimizer: torch.optim.Optimizer, generator: torch.Generator
    ) -> list[Tensor]:
        """Put everything as it was; the parts of the loss of the epochs that are done."""
        tensors = self.checkpoint.tensors
        if self.checkpoint.about.get("stage") != self.about["stage"]:
            return []
        device = objective.e.device
        own = objective.state_dict()
        moments: dict[int, dict[str, Tensor]] = {}
        for name, tensor in tensors.items():
            kind, _, rest = name.partition(":")
            if kind == "state":
                own[rest].copy_(tensor)
            elif kind == "adam":
                number, _, moment = rest.partition(":")
                moments.setdefault(int(number), {})[moment] = tensor
        optimizer.load_state_dict({"state": moments, "param_groups": optimizer.state_dict()["param_groups"]})
        generator.set_state(tensors["generator"])
        return list(tensors["history"].to(device))

    def epoch_done(
        self,
        objective: Objective,
        optimizer: torch.optim.Optimizer,
        generator: torch.Generator,
        lines: list[Tensor],
    ) -> None:
        """Write, if the last time is long ago."""
        path = self.checkpoint.path
        if path is None or time.monotonic() - self.written < EVERY:
            return
        tensors = {f"state:{name}": tensor for name, tensor in objective.state_dict().items()}
        for number, moments in optimizer.state_dict()["state"].items():
            tensors |= {f"adam:{number}:{name}": tensor for name, tensor in moments.items()}
        tensors |= {"generator": generator.get_state(), "history": torch.stack(lines)}
        content = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        with atomic_write(path) as file:
            file.write(save(content, {ABOUT: json.dumps(self.about)}))
        self.written = time.monotonic()


def key_of(model: PINE, graph: Graph, labels: Labels | None, earlier: PINE | None) -> str:
    """A hash of everything that decides what a fit gives."""
    settings = plain_settings(model)
    if not isinstance(model.seed, int):
        raise InputError(
            f"a fit with a checkpoint needs a seed that is a number, so that it can go on; got {model.seed!r}"
        )
    digest = hashlib.sha256(json.dumps([__version__, settings, graph.directed], default=str).encode())
    for part in _arrays(graph, labels, earlier):
        array = np.ascontiguousarray(part)
        digest.update(f"{array.dtype} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _arrays(graph: Graph, labels: Labels | None, earlier: PINE | None) -> Iterable[Any]:
    for type in graph.node_types:
        yield np.array([type, str(graph.count(type))])
    for relation in graph.relations:
        matrix = graph.matrix(relation)
        yield from (np.array(relation), matrix.indptr, matrix.indices)
        if matrix.weights is not None:
            yield matrix.weights
    for type, features in sorted(graph.features.items()):
        yield np.array(type)
        yield from (features.indptr, features.indices, features.data) if sp.issparse(features) else (features,)
    if labels is not None:
        yield from (np.array([labels.task, labels.type]), labels.known, labels.values)
    if earlier is not None:
        yield earlier.learned_.x


def _read(path: Path, key: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    try:
        with safe_open(path, framework="pt") as file:
            about: dict[str, Any] = json.loads((file.metadata() or {})[ABOUT])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise InputError(f"{path} is not the state of a fit ({error}); remove it, or name another file") from error
    if about.get("key") != key:
        raise InputError(
            f"{path} is the state of another fit (data, settings or version differ); remove it to begin anew"
        )
    return about, tensors
