"""The state of a fit under way, in one file: the same fit goes on from it after an interruption, to the same bits.

What comes before a training is made again from the seed. Kept are the vectors and parameters, Adam's moments, the
generators, the history, and what was chosen.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from pine._internal.files import atomic_write, half_written
from pine._internal.settings import plain_settings
from pine._version import __version__
from pine.errors import InputError, quoted
from pine.graph import Graph
from pine.labels import Labels
from pine.model.features import known_features
from pine.model.settings import Choice, Settings
from pine.model.trainable import Trainable
from pine.nn.adam import Adam

LAST_STAGES = ("features", "last")
HEADER = "pine"  # the entry of the file's header that holds everything but tensors


class Checkpoint:
    """A file for the fit of a fingerprint, or no file; stage: the training that the file is from, such as "choice 0"
    or one of the LAST_STAGES, before which the settings are chosen.

    every: seconds between two writes. keep: the file stays when the fit is done, with its last state.
    """

    def __init__(self, path: Path | None, fingerprint: str, every: float = 60.0, keep: bool = False) -> None:
        self.path, self.fingerprint, self.every, self.keep = path, fingerprint, every, keep
        self.about, self.tensors = ({}, {}) if path is None or not path.exists() else _read(path, fingerprint)

    @property
    def choice(self) -> Choice | None:
        """The settings that were chosen, where the last training had begun."""
        return Choice.from_json(self.about["choice"]) if self.about.get("stage") in LAST_STAGES else None

    def writer(self, stage: str, rng: np.random.Generator, choice: Choice | None) -> CheckpointWriter:
        """For a training that is about to begin; rng becomes what it was."""
        if self.about.get("stage") == stage:
            rng.bit_generator.state = self.about["rng"]
        chosen = None if choice is None else choice.as_json()
        about = {
            "fingerprint": self.fingerprint,
            "stage": stage,
            "rng": rng.bit_generator.state,
            "choice": chosen,
        }
        return self.make_writer(about)

    def make_writer(self, about: dict[str, Any]) -> CheckpointWriter:
        """about: the training, and what was before it."""
        return CheckpointWriter(self, about)

    def remove(self) -> None:
        """The fit is done; a process that was killed may have left a half-written file beside its state."""
        if self.path is not None:
            for file in (self.path, *half_written(self.path)):
                file.unlink(missing_ok=True)


class CheckpointWriter:
    """Writes the state of one training, and restores it."""

    def __init__(self, checkpoint: Checkpoint, about: dict[str, Any]) -> None:
        self.checkpoint, self.about = checkpoint, about
        self.written = time.monotonic()

    def restore(self, objective: Trainable, optimizer: Adam, generator: torch.Generator) -> Tensor | None:
        """Put everything as it was; the terms of the loss (epochs, terms) that are done, None if none are."""
        tensors = self.checkpoint.tensors
        if self.checkpoint.about.get("stage") != self.about["stage"]:
            return None
        device = objective.device
        own = objective.state_dict()
        for name, tensor in tensors.items():
            kind, _, rest = name.partition(":")
            if kind == "state":
                own[rest].copy_(tensor)
            elif kind == "adam":
                number, _, moment = rest.partition(":")
                optimizer.state[int(number)][moment].copy_(tensor)
        generator.set_state(tensors["generator"])
        return tensors["history"].to(device)

    @property
    def names(self) -> list[str]:
        """Of the terms of the loss, where a training goes on."""
        return list(self.checkpoint.about.get("names", []))

    def is_due(self, *, is_last: bool) -> bool:
        """Whether the last write is long ago; after the last epoch of all, whether the file is kept."""
        if is_last:
            return self.checkpoint.keep and self.about["stage"] == LAST_STAGES[-1]
        return time.monotonic() - self.written >= self.checkpoint.every

    def write(
        self,
        objective: Trainable,
        optimizer: Adam,
        generator: torch.Generator,
        history: Tensor,
        names: list[str],
    ) -> None:
        """Write, if there is a file; history (epochs, terms) and names: of the terms of the loss."""
        path = self.checkpoint.path
        if path is None:
            return
        tensors = self.tensors(objective, optimizer) | {"generator": generator.get_state(), "history": history}
        content = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        about = self.about | {"names": names}
        with atomic_write(path) as file:
            file.write(save(content, {HEADER: json.dumps(about | {"sum": _sum(about, content)})}))
        self.note_written()

    def tensors(self, objective: Trainable, optimizer: Adam) -> dict[str, Tensor]:
        """Vectors, parameters and Adam's moments."""
        tensors = {f"state:{name}": tensor for name, tensor in objective.state_dict().items()}
        for number, moments in enumerate(optimizer.state):
            tensors |= {f"adam:{number}:{name}": tensor for name, tensor in moments.items()}
        # NumPy, which sums them, has no bfloat16.
        return {name: each.float() if each.dtype == torch.bfloat16 else each for name, each in tensors.items()}

    def note_written(self) -> None:
        """From now on it is a while until it is due again."""
        self.written = time.monotonic()


def fingerprint(
    settings: Settings,
    graph: Graph,
    labels: Labels | None,
    learn: NDArray[np.bool_],
    earlier: NDArray[np.float32] | None,
) -> str:
    """A hash of everything that decides what a fit gives; earlier: the vectors that it starts from."""
    if not isinstance(settings.seed, int):
        raise InputError(
            f"a fit with a checkpoint needs a seed that is a number, so that it can go on; got {quoted(settings.seed)}"
        )
    header: list[Any] = [__version__, plain_settings(settings), graph.directed]
    digest = hashlib.sha256(json.dumps(header, default=str).encode())
    for each in _arrays(graph, labels, learn, earlier):
        array = np.ascontiguousarray(each)
        digest.update(f"{array.dtype} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _arrays(
    graph: Graph, labels: Labels | None, learn: NDArray[np.bool_], earlier: NDArray[np.float32] | None
) -> Iterable[Any]:
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
        yield known_features(graph, type)
    if labels is not None:
        yield from (np.array([labels.task, labels.type]), labels.known, labels.values, learn)
    if earlier is not None:
        yield earlier


def _sum(about: dict[str, Any], tensors: dict[str, Tensor]) -> str:
    """SHA-256 of all that a file holds."""
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        array = tensor.contiguous().numpy()
        digest.update(f"{name} {array.dtype} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _read(path: Path, fingerprint: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    try:
        with safe_open(path, framework="pt") as file:
            about: dict[str, Any] = json.loads((file.metadata() or {})[HEADER])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if about.pop("sum") != _sum(about, tensors):
            raise ValueError("damaged: it is not what was written")
    except (OSError, SafetensorError, KeyError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"{path} is not the state of a fit ({error}); remove it, or name another file") from error
    if about.get("fingerprint") != fingerprint:
        raise InputError(
            f"{path} is the state of another fit (data, settings or version differ); remove it to begin anew"
        )
    return about, tensors
