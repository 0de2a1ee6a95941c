"""The state of a fit that ranks share, in a folder: any number of ranks goes on from it, after one of them is gone.

    about.json    what pine.model.checkpoint keeps beside tensors, and which state is the last whole one
    STATE/        tensors, by torch.distributed.checkpoint; rows of nodes in the order of the graph, whoever has them

torch.distributed.checkpoint keeps its table of contents as a pickle, which is read with a list of allowed names. On
several machines the folder has to lie where all of them see it.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import EnumMeta
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from pine._internal.files import atomic_write, half_written
from pine.distributed.part import RankPart
from pine.distributed.ranks import said_plainly
from pine.errors import InputError
from pine.model.checkpoint import Checkpoint, CheckpointWriter
from pine.model.trainable import Trainable
from pine.nn.adam import Adam

STATE_FILE = "about.json"
# What torch's table of contents is made of: names of tensors, shapes, places in files.
TORCH_NAMES = {
    "pathlib": ("PosixPath", "WindowsPath"),
    "torch": ("Size", "float32", "uint8", "strided"),
    "torch.serialization": ("_get_layout",),
    "torch.distributed.checkpoint.filesystem": ("_StorageInfo",),
    "torch.distributed.checkpoint.metadata": (
        "ChunkStorageMetadata", "Metadata", "MetadataIndex", "StorageMeta", "TensorProperties", "TensorStorageMetadata",
        "_MEM_FORMAT_ENCODING",
    ),
}  # fmt: skip


class RankCheckpoint(Checkpoint):
    """A folder for the fit of a fingerprint."""

    def __init__(self, path: Path, fingerprint: str, part: RankPart, every: float, keep: bool) -> None:
        super().__init__(None, fingerprint, every, keep)
        self.path, self.part = path, part
        self.about = part.ranks.from_first(lambda: _about(path, fingerprint))

    def make_writer(self, about: dict[str, Any]) -> RankCheckpointWriter:
        return RankCheckpointWriter(self, about)

    def remove(self) -> None:
        if self.path is not None and self.part.ranks.rank == 0:
            remove_states(self.path)


class RankCheckpointWriter(CheckpointWriter):
    """Writes and restores the state of one training, with all ranks at once."""

    checkpoint: RankCheckpoint

    def restore(self, objective: Trainable, optimizer: Adam, generator: torch.Generator) -> Tensor | None:
        kept = self.checkpoint.about
        if kept.get("stage") != self.about["stage"]:
            return None
        from torch.distributed.checkpoint.state_dict_loader import load

        part, place = self.checkpoint.part, self._place(kept["state"])
        part.ranks.from_first(lambda: _check_sums(place, kept["sums"]))
        history = torch.empty(kept["epochs"], len(kept["names"]))
        tensors = self._tensors(objective, optimizer, generator, history)
        rows = self._rows(objective, optimizer)
        held: dict[str, Any] = {
            name: _sharded(part, tensor) if name in rows else tensor.cpu().clone() for name, tensor in tensors.items()
        }
        with said_plainly(part.ranks), _whose_fault(place):
            load(held, storage_reader=_reader(place))
        with torch.no_grad():
            for name, tensor in tensors.items():
                if name in ("generator", "history"):
                    continue
                found = held[name]
                tensor.copy_(part.from_even(found.to_local().to(tensor.device)) if name in rows else found)
        if objective.device.type == "cpu":
            generator.set_state(held["generator"])
        else:  # ranks draw by seeds of their own, and may be others than before
            generator.manual_seed(generator.initial_seed() + 1_000_003 * len(history))
        done: Tensor = held["history"]
        return done.to(objective.device)

    def is_due(self, *, is_last: bool) -> bool:
        """Where it is for one rank it is for all: clocks differ."""
        due = super().is_due(is_last=is_last)
        return bool(self.checkpoint.part.ranks.total(torch.tensor(float(due))) > 0)

    def write(
        self,
        objective: Trainable,
        optimizer: Adam,
        generator: torch.Generator,
        history: Tensor,
        names: list[str],
    ) -> None:
        from torch.distributed.checkpoint.state_dict_saver import save

        part, folder = self.checkpoint.part, self.checkpoint.path
        tensors = self._tensors(objective, optimizer, generator, history)
        rows = self._rows(objective, optimizer)
        held = {name: _sharded(part, tensor) if name in rows else tensor.cpu() for name, tensor in tensors.items()}
        state = self.checkpoint.about.get("state", 0) + 1
        place = self._place(state)
        if part.ranks.rank == 0:
            shutil.rmtree(place, ignore_errors=True)  # of a process that was killed while writing it
        with said_plainly(part.ranks), _whose_fault(place):
            save(held, checkpoint_id=place)
        self.checkpoint.about = self.about | {"names": names, "epochs": len(history), "state": state}
        if part.ranks.rank == 0:
            assert folder is not None
            with atomic_write(folder / STATE_FILE) as file:
                file.write(json.dumps(self.checkpoint.about | {"sums": _sums(place)}).encode())
            for other in _states(folder):
                if other != place:
                    shutil.rmtree(other, ignore_errors=True)
        super().note_written()

    def _place(self, state: int) -> Path:
        assert self.checkpoint.path is not None
        return self.checkpoint.path / str(state)

    def _tensors(
        self, objective: Trainable, optimizer: Adam, generator: torch.Generator, history: Tensor
    ) -> dict[str, Tensor]:
        """As the file of one process has them; of rows of nodes those of this rank."""
        tensors = self.tensors(objective, optimizer)
        return {name: tensor.detach() for name, tensor in tensors.items()} | {
            "generator": generator.get_state(),
            "history": history.detach(),
        }

    def _rows(self, objective: Trainable, optimizer: Adam) -> set[str]:
        """The names of what has a row for each node."""
        own = {each.data_ptr() for each in objective.vectors_of_nodes()}
        names = {f"state:{name}" for name, each in objective.state_dict().items() if each.data_ptr() in own}
        moments = range(len(objective.vectors_of_nodes()))  # the first of Adam's
        return names | {f"adam:{number}:{moment}" for number in moments for moment in ("exp_avg", "exp_avg_sq")}


def remove_states(folder: Path) -> None:
    """Remove what ranks have kept in a folder, and the folder if nothing else is in it."""
    for state in _states(folder):
        shutil.rmtree(state, ignore_errors=True)
    for file in (folder / STATE_FILE, *half_written(folder / STATE_FILE)):
        file.unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def _states(folder: Path) -> list[Path]:
    return [each for each in folder.iterdir() if each.is_dir() and each.name.isdecimal()]


def _sums(place: Path) -> dict[str, str]:
    """The SHA-256 of every file of a state."""
    found = {}
    for path in sorted(place.iterdir()):
        with path.open("rb") as file:
            found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _check_sums(place: Path, sums: Any) -> None:
    """A damaged state is never used."""
    if not place.is_dir() or _sums(place) != sums:
        raise InputError(f"{place} is damaged; remove {place.parent} to begin anew")


def _sharded(part: RankPart, rows: Tensor) -> Any:
    """Rows of this rank's nodes as its range of all rows in the order of the graph."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Shard

    even, shape = part.to_even(rows).cpu(), torch.Size((len(part.owner), *rows.shape[1:]))
    mesh = init_device_mesh("cpu", (part.ranks.size,))
    return DTensor.from_local(even, mesh, [Shard(0)], run_check=False, shape=shape, stride=even.stride())


def _member(of: Any, name: Any) -> Any:
    """As the first Pythons 3.11 write a member of an enumeration: getattr(of, name)."""
    if not (isinstance(of, EnumMeta) and isinstance(name, str) and name in of.__members__):
        raise pickle.UnpicklingError(f"it asks for {name} of {of}")
    return of[name]


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("builtins", "getattr"):
            return _member
        if name not in TORCH_NAMES.get(module, ()):
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return super().find_class(module, name)


def _reader(place: Path) -> Any:
    """torch's reader of a folder, which runs nothing that is in it: tensors it reads so anyway."""
    from torch.distributed.checkpoint.filesystem import FileSystemReader

    class Reader(FileSystemReader):
        def read_metadata(self, *_: Any, **__: Any) -> Any:
            try:
                with (place / ".metadata").open("rb") as file:
                    return _Unpickler(file).load()
            except (OSError, EOFError, pickle.UnpicklingError) as problem:
                raise InputError(f"{place} is not the state of a fit ({problem}); remove it") from None

    return Reader(place)


@contextmanager
def _whose_fault(place: Path) -> Iterator[None]:
    """What went wrong on some rank, such as a full disk, is said by all of them."""
    from torch.distributed.checkpoint.api import CheckpointException

    try:
        yield
    except CheckpointException as problem:
        rank, (reason, _) = next(iter(problem.failures.items()))
        if isinstance(reason, RuntimeError):
            raise reason from None
        raise InputError(f"rank {rank} cannot read or write {place}: {reason}") from None


def _about(path: Path, fingerprint: str) -> dict[str, Any]:
    """What was kept; nothing where nothing was."""
    if path.is_file():
        raise InputError(f"{path} is the state of a fit by one process; go on with one, or remove it")
    if path.is_dir() and not (path / STATE_FILE).exists() and any(each not in _states(path) for each in path.iterdir()):
        raise InputError(f"{path} holds files that are no state of a fit; move them, or name another place")
    try:
        about: dict[str, Any] = json.loads((path / STATE_FILE).read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as problem:
        raise InputError(f"{path} is not the state of a fit ({problem}); remove it, or name another place") from None
    if about.get("fingerprint") != fingerprint:
        raise InputError(
            f"{path} is the state of another fit (data, settings or version differ); remove it to begin anew"
        )
    return about
