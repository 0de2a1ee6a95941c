"""The folder of a run: written beside its place, then put there with a rename; nothing of others is ever removed.

.RUN.1234.saving    what process 1234 is writing
.RUN.replaced       the earlier run, between the rename that takes it away and the one that puts the new one there
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pine._internal.files import half_written
from pine._internal.memory import format_bytes
from pine.errors import InputError, listed

ARRAYS, ABOUT = "run.safetensors", "run.json"
KEPT_MAP = "map.safetensors"  # comes into the folder later, when a run is first explored, and goes with the run


def check_place(folder: Path, needed: int = 0) -> None:
    """Raise unless a run of so many bytes can be saved there: before hours of training, not after."""
    place = _resolved(folder)
    _check_others(folder, place)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            os.lstat(_fresh(place))  # a name that is too long is found here
        with tempfile.TemporaryFile(dir=place.parent):  # without a name, so that a signal leaves nothing behind
            pass
        free = shutil.disk_usage(place.parent).free
    except OSError as problem:
        raise InputError(f"cannot write into {place.parent}: {problem.strerror or problem}") from None
    if needed > free:
        raise InputError(
            f"{folder} needs about {format_bytes(needed)} and {format_bytes(free)} are free in {place.parent}"
        )


def is_run(folder: Path) -> bool:
    """Whether a saved run stands there."""
    return (found_run(folder) / ABOUT).is_file()


def found_run(folder: Path) -> Path:
    """The folder, or where its run is when a save was stopped between two renames."""
    place = _real(folder)
    return _replaced(place) if not place.exists() and _replaced(place).exists() else folder


@contextmanager
def replaced_folder(folder: Path) -> Iterator[Path]:
    """A new folder to write into; when the block ends well it takes the place of the old one, else it is removed."""
    place = _resolved(folder)
    place.parent.mkdir(parents=True, exist_ok=True)
    _clean_up(place)
    _check_others(folder, place)
    fresh = _fresh(place)
    try:
        fresh.mkdir()
        yield fresh
        _make_readable(fresh)
        if place.exists():
            place.rename(_replaced(place))
        fresh.rename(place)
        _remove_run(_replaced(place))
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        if not place.exists() and _replaced(place).exists():
            _replaced(place).rename(place)
        raise


def _resolved(folder: Path) -> Path:
    """Where a folder is; a link stays, and what it leads to is replaced."""
    place = _real(folder)
    if Path.cwd().is_relative_to(place):
        raise InputError(f"{folder} is the folder that you are in, or one around it; give the run one of its own")
    return place


def _real(folder: Path) -> Path:
    try:
        return Path(os.path.realpath(folder))
    except ValueError:  # a zero byte
        raise InputError(f"{str(folder)!r} cannot be the name of a folder") from None


def _fresh(place: Path) -> Path:
    return place.with_name(f".{place.name}.{os.getpid()}.saving")


def _replaced(place: Path) -> Path:
    return place.with_name(f".{place.name}.replaced")


def _check_others(folder: Path, place: Path) -> None:
    """Raise if something stands there that no run wrote."""
    if not place.exists():
        return
    if not place.is_dir():
        raise InputError(f"{folder} exists and is not a saved run, but a file; choose another place")
    names = {path.name for path in place.iterdir()}
    if not names:
        return
    written = _written(place)
    if not written:
        raise InputError(f"{folder} exists and is not a saved run; choose another place, it would be overwritten")
    others = sorted(names - written)
    if others:
        raise InputError(
            f"{folder} holds files that no run wrote, such as {listed(others, 3)[:150]}; move them, or choose another "
            "place"
        )


def _written(place: Path) -> set[str]:
    """The files that the run in a folder wrote; none if it is no run."""
    try:
        about: Any = json.loads((place / ABOUT).read_text(encoding="utf-8"))
        own = isinstance(about, dict) and "format" in about and "method" in about
        files = about.get("files", []) if own else []
    except OSError:
        return set()
    except (ValueError, RecursionError):  # damaged: a run if its arrays are there
        own, files = (place / ARRAYS).is_file(), []
    listed_files = {name for name in files if isinstance(name, str)} if isinstance(files, list) else set()
    map_parts = {path.name for path in half_written(place / KEPT_MAP)}
    return {ARRAYS, ABOUT, KEPT_MAP, *map_parts, *listed_files} if own else set()


def _remove_run(place: Path) -> None:
    """Remove the files of a run, and the folder if nothing else came into it."""
    if not place.exists():
        return
    for name in _written(place) - {ABOUT}:
        (place / name).unlink(missing_ok=True)
    (place / ABOUT).unlink(missing_ok=True)
    if not any(place.iterdir()):
        place.rmdir()


def _make_readable(fresh: Path) -> None:
    """On disk, and open to other users, whatever the umask."""
    fresh.chmod(0o755)
    for file in fresh.iterdir():
        file.chmod(0o644)
        with file.open("rb") as written:
            os.fsync(written.fileno())


def _clean_up(place: Path) -> None:
    """What saves that were killed have left: a run that was taken away comes back, the half-written goes."""
    if _replaced(place).exists():
        if place.exists():
            _remove_run(_replaced(place))
        else:
            _replaced(place).rename(place)
    for left in place.parent.iterdir():
        if left.name.startswith(f".{place.name}.") and left.name.endswith(".saving"):
            number = left.name[len(place.name) + 2 : -len(".saving")]
            if number.isdecimal() and number.isascii() and not _is_alive(int(number)):
                shutil.rmtree(left, ignore_errors=True)


def _is_alive(process: int) -> bool:
    if process == os.getpid() or os.name != "posix":  # elsewhere the question would end the process
        return process != os.getpid()
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
