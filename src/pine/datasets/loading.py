"""load("cora"): find the files or fetch them, check them, and build the graph."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from pine._internal.progress import Progress, ProgressCounter
from pine.datasets import blogcatalog, dblp, npz, reddit, typed
from pine.datasets.arrays import Arrays, read_npz
from pine.datasets.catalog import CATALOG
from pine.datasets.dataset import Dataset
from pine.datasets.download import fetch, save_npz
from pine.datasets.entry import Entry
from pine.datasets.folders import FolderLike, Found, cache_folder, find, instructions, missing
from pine.datasets.originals import read_originals
from pine.errors import InputError, MissingDataError, did_you_mean, quoted

SHOWN_NAMES = 8


def load(name: str, data_dir: FolderLike = None, download: bool = True, progress: Progress | None = None) -> Dataset:
    """Load a data set of the catalog by its name.

    data_dir: a folder with its files; without it, the folder that PINE_DATA names, then the user's cache folder.
    download: fetch what is in none of them from its publisher, where that is possible, into the cache folder.
    progress: called with the bytes downloaded, the bytes in all and the name of the file.
    """
    return load_entry(_entry(name), data_dir, download, progress)


def load_entry(entry: Entry, data_dir: FolderLike, download: bool, progress: Progress | None) -> Dataset:
    """Load the data set that an entry describes; the other arguments are those of load."""
    if entry.embedded:
        return npz.build_cora(entry)
    found = find(entry, data_dir) or _download(entry, data_dir, download, progress)
    if entry.name in FILES:
        return FILES[entry.name](entry, found.paths)
    usual = typed.build if len(entry.types) > 1 else npz.build
    return BUILDERS.get(entry.name, usual)(entry, _arrays(entry, found))


# The data sets that are read in their publishers' forms.
FILES: dict[str, Callable[[Entry, tuple[Path, ...]], Dataset]] = {
    "blogcatalog": lambda entry, paths: blogcatalog.build(entry, blogcatalog.read(paths)),
    "reddit": lambda entry, paths: reddit.build(entry, reddit.read(paths)),
}
# Of those in PINE's own form, the ones whose arrays are not simply edges and labels, of one node type or of several.
BUILDERS: dict[str, Callable[[Entry, Arrays], Dataset]] = {
    "dblp": dblp.build,
    "ppi": npz.build_ppi,
}


def available(name: str, data_dir: FolderLike = None) -> Path | None:
    """The file from which load would take a data set (the first, if there are several), or None if it is not here."""
    entry = _entry(name)
    if entry.embedded:
        return Path(__file__).with_name(npz.CORA_FILE)
    found = find(entry, data_dir)
    return found.paths[0] if found else None


def how_to_get(name: str) -> str:
    """Which files a data set needs, where they go and where they come from."""
    return instructions(_entry(name))


def _entry(name: str) -> Entry:
    if name in CATALOG:
        return CATALOG[name]
    offered = did_you_mean(name, CATALOG, SHOWN_NAMES)
    more = "" if offered.endswith("?") else "; `pine datasets` lists them"
    raise MissingDataError(f"unknown dataset {quoted(name)}; {offered}{more}")


def _arrays(entry: Entry, found: Found) -> Arrays:
    names = [str(path) for path in found.paths]
    if found.form == entry.files:
        return read_npz(list(zip(names, found.paths, strict=True)))
    return read_originals(entry, found.paths, names)


def _download(entry: Entry, data_dir: FolderLike, wanted: bool, progress: Progress | None) -> Found:
    """Fetch the originals, check what they hold, and keep it in our own form in the cache folder."""
    if not (wanted and entry.downloadable):
        raise missing(entry, data_dir, "" if wanted else ", and download=False")
    cache, counter = cache_folder(), ProgressCounter(progress, entry.name)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".download-", dir=cache) as scratch:
            paths = [Path(scratch, original.path) for original in entry.originals]
            for original, path in zip(entry.originals, paths, strict=True):
                fetch(original.url, path, original.sha256, progress=counter)
            arrays = read_originals(entry, paths, [original.url for original in entry.originals])
        features = {name: array for name, array in arrays.values.items() if name.startswith("feat_")}
        rest = {name: array for name, array in arrays.values.items() if name not in features}
        # The file of features first: a data set counts as present when all of its files are.
        for file, part in reversed(list(zip(entry.files, (rest, features), strict=False))):
            save_npz(cache / file, part)
    except (InputError, OSError) as problem:
        raise missing(entry, data_dir, f", and {problem}") from None
    return Found(cache, entry.files)
