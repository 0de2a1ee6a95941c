"""Results of earlier runs by the hash of what they came from: one SQLite file, written result by result.

An archive has the same in a file that is small enough to be passed on.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import lzma
import sqlite3
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pine._internal.files import atomic_write
from pine.errors import InputError

# The column unit holds the task; stores that users have call it so. Those of earlier versions have no sums.
SCHEMA = "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, unit TEXT, result TEXT, made TEXT, sum TEXT)"
ADD_SUMS = "ALTER TABLE results ADD COLUMN sum TEXT"
COLUMNS = "key, unit, result, made, sum"
KEYS_PER_QUERY = 500
ARCHIVE = ".tsv.xz"  # key, task, result and time of making in a line, compressed: a tenth of a store


class Store:
    """put(key, task, result) and get(keys); several processes may have it open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        with _explained(self.path):
            self.connection = sqlite3.connect(path, timeout=60)
        try:
            with _explained(self.path), self.connection:
                self.connection.execute(SCHEMA)
                if not any(column[1] == "sum" for column in self.connection.execute("PRAGMA table_info(results)")):
                    with contextlib.suppress(sqlite3.OperationalError):  # another process was quicker
                        self.connection.execute(ADD_SUMS)
                self.connection.execute(f"SELECT {COLUMNS} FROM results LIMIT 1").fetchone()
                (found,) = self.connection.execute("PRAGMA integrity_check(1)").fetchone()
                if found != "ok":
                    raise ValueError(f"it is damaged: {found}")
        except InputError:
            self.connection.close()
            raise

    def put(self, key: str, task: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        """Keep a result; what had the same key is replaced."""
        unit, kept = json.dumps(task), json.dumps(result)
        row = (key, unit, kept, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), _sum(key, kept))
        with _explained(self.path), self.connection:
            self.connection.execute(f"INSERT OR REPLACE INTO results ({COLUMNS}) VALUES (?, ?, ?, ?, ?)", row)

    def get(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The results that are there, by key; one that is not what was put is none."""
        asked = list(dict.fromkeys(keys))
        found: dict[str, dict[str, Any]] = {}
        for first in range(0, len(asked), KEYS_PER_QUERY):
            some = asked[first : first + KEYS_PER_QUERY]
            query = f"SELECT key, result, sum FROM results WHERE key IN ({','.join('?' * len(some))})"
            with _explained(self.path):
                for key, result, sum in self.connection.execute(query, some):
                    if sum is not None and sum != _sum(key, result):
                        warnings.warn(f"{self.path}: a damaged result is left out and made again", stacklevel=2)
                    else:
                        found[key] = json.loads(result)
        return found

    def take(self, other: Path) -> int:
        """Add the results of another store, as one from another machine, or of an archive; says how many were new."""
        if not other.exists():
            raise InputError(f"there is no {other}")
        with _explained(other):
            rows = _archived(other) if other.name.endswith(ARCHIVE) else _stored(other)
        before = self.connection.total_changes
        with _explained(self.path), self.connection:
            self.connection.executemany(f"INSERT OR IGNORE INTO results ({COLUMNS}) VALUES (?, ?, ?, ?, ?)", rows)
        return self.connection.total_changes - before

    def archive(self, path: Path) -> int:
        """Write all results into one small file, in the order of their tasks; says how many."""
        check_archive(path)
        with _explained(self.path):
            rows = self.connection.execute("SELECT key, unit, result, made FROM results ORDER BY unit, key").fetchall()
        lines = "".join("\t".join(row) + "\n" for row in rows)
        with atomic_write(path) as file:
            file.write(lzma.compress(lines.encode(), preset=9))
        return len(rows)

    def close(self) -> None:
        self.connection.close()


def check_archive(path: Path) -> None:
    """Whether an archive may be called so: what is not would be read as a store."""
    if not path.name.endswith(ARCHIVE):
        raise InputError(f"an archive of results is named ...{ARCHIVE}, got {path}")


def _stored(other: Path) -> list[tuple[Any, ...]]:
    """The rows of another store, which is read and stays as it is."""
    with contextlib.closing(sqlite3.connect(f"{other.absolute().as_uri()}?mode=ro", uri=True)) as it:
        has_sums = any(column[1] == "sum" for column in it.execute("PRAGMA table_info(results)"))
        return it.execute(f"SELECT key, unit, result, made, {'sum' if has_sums else 'NULL'} FROM results").fetchall()


def _archived(path: Path) -> list[tuple[str, ...]]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        found = [tuple(line.rstrip("\n").split("\t")) for line in file]
    for each in found:
        if len(each) != 4 or not isinstance(json.loads(each[2]), dict):
            raise ValueError("a line of it is no result")
    return [(key, unit, result, made, _sum(key, result)) for key, unit, result, made in found]


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """One sentence for a file that is no store, or a damaged one."""
    try:
        yield
    except (sqlite3.Error, lzma.LZMAError, EOFError, ValueError, TypeError, RecursionError) as problem:
        raise InputError(f"{path} cannot be used to keep results in ({problem}); name another file") from None


def _sum(key: str, result: Any) -> str:
    return hashlib.sha256(f"{key}\n{result}".encode(errors="surrogatepass")).hexdigest()
