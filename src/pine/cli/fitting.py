"""The fit of `pine train`: a place for the run, what it needs, progress, and a state to go on from."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

import pine
from pine._internal.files import half_written
from pine._internal.memory import format_bytes
from pine.cli.console import plain_console
from pine.cli.graphs import LabelsRead
from pine.cli.interruption import stopping_between_epochs
from pine.cli.needs import needs_of
from pine.cli.progress import progress_bar
from pine.errors import InputError

if TYPE_CHECKING:
    from pine.embedder import Embedder


CHECKPOINT_EVERY = 60.0  # seconds


def check_out(out: Path, *, overwrite: bool) -> None:
    """Raise unless a run can be saved there; one that is there is replaced with --overwrite alone."""
    pine.io.run_folder.check_place(out)
    if pine.io.run_folder.is_run(out) and not overwrite:
        raise InputError(f"{out} holds a run already; add --overwrite to replace it, or choose another place")


def print_needs(
    console: Console, model: Embedder, graph: pine.Graph, known: LabelsRead | None, mmap_dir: Path | None = None
) -> int:
    """Say what a training will need; the bytes of the run. Of other methods than PINE nothing is known but that."""
    if not isinstance(model, pine.PINE):
        return 8 * graph.num_nodes * int(getattr(model, "dim", 64))
    outputs = None
    if known is not None:
        with warnings.catch_warnings(action="ignore"):  # shown in fit
            outputs = pine.labels.read_labels(graph, known.labels, known.task).num_outputs
    needs = needs_of(model, graph, outputs)
    if mmap_dir is not None:
        files = pine.model.needs.file_bytes(model, graph)
        console.print(f"needs, roughly: {format_bytes(files)} of disk in {mmap_dir}, as much time as in memory or more")
        return int(needs.disk)
    if pine.distributed.ranks.current_ranks() is pine.distributed.ranks.ALONE:
        console.print(needs.line)
    return int(needs.disk)


def checkpoint_of(model: Embedder, out: Path) -> Path | None:
    """The file of a fit's state, beside the run; methods that keep none have none."""
    return out.with_name(f"{out.name}.unfinished") if model.keeps_checkpoints else None


def how_to_go_on(checkpoint: Path | None) -> str:
    """After a training was stopped."""
    kept = checkpoint is not None and checkpoint.exists()
    return f"repeat the command to go on from {checkpoint}" if kept else "repeat the command to begin anew"


def fit(
    model: Embedder,
    graph: pine.Graph,
    known: LabelsRead | None,
    checkpoint: Path | None,
    start_from: Path | None,
    console: Console,
    mmap_dir: Path | None = None,
) -> None:
    """Fit; the file of its state stays until the run is saved. The same command goes on from it."""
    if checkpoint is not None and checkpoint.exists():
        console.print(f"going on from {checkpoint}, where an earlier training was stopped")
    ranks = pine.distributed.ranks.current_ranks()
    labels, task = (None, "auto") if known is None else (known.labels, known.task)
    with (
        progress_bar(plain_console(stderr=True, quiet=ranks.rank > 0), model.name) as progress,
        # Ranks that each stop after an epoch of their own would wait for each other.
        stopping_between_epochs(waits=checkpoint is not None and ranks is pine.distributed.ranks.ALONE) as watched,
    ):
        model.fit(
            graph, labels, task, start_from=start_from, checkpoint=checkpoint, progress=watched(progress),
            checkpoint_every=CHECKPOINT_EVERY,
            keep_checkpoint=True, mmap_dir=mmap_dir,
        )  # fmt: skip


def remove_checkpoint(checkpoint: Path | None) -> None:
    """When the run is saved; a process that was killed may have left a half-written file beside it."""
    if checkpoint is not None and checkpoint.is_dir():  # of ranks
        pine.model.rank_checkpoint.remove_states(checkpoint)
    elif checkpoint is not None:
        for file in (checkpoint, *half_written(checkpoint)):
            file.unlink(missing_ok=True)
