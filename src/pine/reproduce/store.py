"""Results of earlier runs by the hash of what they came from: one SQLite file, written result by result."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pine.errors import InputError

# The column unit holds the task; stores that users have call it so.
SCHEMA = "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, unit TEXT, result TEXT, made TEXT)"
KEYS_PER_QUERY = 500


class Store:
    """put(key, task, result) and get(keys); several processes may have it open."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self.connection = sqlite3.connect(path, timeout=60)
            with self.connection:
                self.connection.execute(SCHEMA)
        except sqlite3.DatabaseError as problem:
            raise InputError(f"{path} cannot be used to keep results in ({problem}); name another file") from None

    def put(self, key: str, task: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        """Keep a result; what had the same key is replaced."""
        row = (key, json.dumps(task), json.dumps(result), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        with self.connection:
            self.connection.execute("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)", row)

    def get(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The results that are there, by key."""
        asked = list(dict.fromkeys(keys))
        found: dict[str, dict[str, Any]] = {}
        for first in range(0, len(asked), KEYS_PER_QUERY):
            some = asked[first : first + KEYS_PER_QUERY]
            query = f"SELECT key, result FROM results WHERE key IN ({','.join('?' * len(some))})"
            found |= {key: json.loads(result) for key, result in self.connection.execute(query, some)}
        return found

    def take(self, other: Path) -> int:
        """Add the results of another store, as one from another machine; says how many were new."""
        if not other.exists():
            raise InputError(f"there is no {other}")
        before = self.connection.total_changes
        theirs = Store(other)
        with self.connection:
            self.connection.executemany(
                "INSERT OR IGNORE INTO results VALUES (?, ?, ?, ?)",
                theirs.connection.execute("SELECT key, unit, result, made FROM results"),
            )
        theirs.close()
        return self.connection.total_changes - before

    def close(self) -> None:
        self.connection.close()
