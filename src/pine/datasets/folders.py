"""The folders of data files: the one that the caller names, PINE_DATA, the user's cache, in this order."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from pine.datasets.entry import Entry
from pine.errors import InputError, MissingDataError

FolderLike = str | os.PathLike[str] | None
DATA_VARIABLE = "PINE_DATA"


def cache_folder() -> Path:
    """The folder into which downloads go."""
    if os.environ.get("XDG_CACHE_HOME"):
        base = Path(os.environ["XDG_CACHE_HOME"])
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path.home() / ".cache"
    return base / "pine-embedding"


def folders(data_dir: FolderLike) -> list[Path]:
    """The folders to look in, the first one first."""
    given = [data_dir, os.environ.get(DATA_VARIABLE) or None]
    return [*(Path(folder).expanduser() for folder in given if folder is not None), cache_folder()]


@dataclass(frozen=True)
class Found:
    """A folder, and the form in which it holds a data set: one of Entry.forms."""

    folder: Path
    form: tuple[str, ...]

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files."""
        return tuple(self.folder / file for file in self.form)


def find(entry: Entry, data_dir: FolderLike = None) -> Found | None:
    """Where a data set lies, all of it in one folder, or None."""
    if data_dir is not None and not Path(data_dir).expanduser().is_dir():
        raise InputError(f"data_dir must be a folder, got {os.fspath(data_dir)!r}; create it or leave data_dir out")
    for folder in folders(data_dir):
        for form in entry.forms:
            found = Found(folder, form)
            if all(path.is_file() for path in found.paths):
                return found
    return None


def instructions(entry: Entry) -> str:
    """Which files to put where, and where to get them."""
    if entry.embedded:
        return f"{entry.name} comes with PINE; there is nothing to get"
    where = f"into {cache_folder()}, or into a folder that {DATA_VARIABLE} or data_dir names"
    wanted = " and ".join(entry.files)
    if entry.downloadable:
        files = ", ".join(f"{original.url} as {original.path}" for original in entry.originals)
        return f"put {files} {where}; {wanted} from a machine that has downloaded it serves as well. {entry.where}"
    other = "".join(f", or {' and '.join(form)}," for form in entry.other_forms)
    return f"PINE cannot download it; put {wanted}{other} {where}. {entry.where}"


def missing(entry: Entry, data_dir: FolderLike, reason: str) -> InputError:
    """The error for a data set that is nowhere: what was looked for, why it was not fetched, what to do."""
    searched = ", ".join(str(folder) for folder in folders(data_dir))
    return MissingDataError(f"dataset {entry.name!r} is not in {searched}{reason}. To get it: {instructions(entry)}")
