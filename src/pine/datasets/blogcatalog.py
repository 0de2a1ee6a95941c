"""BlogCatalog, the crawl of 88,784 bloggers: users, the tags of their blogs, and three relations.

What is known. The paper cites Wang et al. 2010 ("Discovering overlapping groups in social media") and has 55,814 users,
5,413 tags, and 1.4M user-user, 619K tag-tag and 343K user-tag edges. The Social Computing Data Repository publishes the
crawl of 88,784 users with 4,186,390 friendships as nodes.csv and edges.csv, without tags or groups. Wang published the
typed form as a MATLAB file, in a subset of about 6,000 users, with the matrices friendship (user x user), usertag
(user x tag), tagnetwork (tag x tag) and usercategory (user x group).

What is assumed. Two forms are read: blogcatalog.mat with those four matrices; and a folder blogcatalog/ with the
repository's nodes.csv and edges.csv, groups as in its other BlogCatalog crawl (group-edges.csv, "user,group" a line),
and in the same style user-tags.csv ("user,tag") and tag-edges.csv ("tag,tag"), names that nobody publishes.

What is our reading. The labels are the five groups with most members, the nodes those users who are in one of the five
and the tags that some of them use. How the paper came to 55,814 users is not published; 63% of the users in the five
largest groups would fit the third of all friendships that it reports. `raw` and the graph show how near a file comes.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pine._internal.npz_sizes import UNREADABLE
from pine.datasets.arrays import unfit
from pine.datasets.dataset import Dataset, typed_counts
from pine.datasets.entry import Entry
from pine.datasets.matlab import read_matrices
from pine.errors import listed
from pine.graph import Graph

FRIEND = ("user", "friend", "user")
TAGGED = ("user", "tagged", "tag")
RELATED = ("tag", "related", "tag")
LARGEST_GROUPS = 5  # those that are the labels

MATLAB_MATRICES = {
    "friendship": ("user", "user"),
    "usertag": ("user", "tag"),
    "tagnetwork": ("tag", "tag"),
    "usercategory": ("user", "group"),
}


@dataclass(frozen=True)
class Crawl:
    """Users and tags by id, and pairs of ids: friends, users and tags, related tags, users and groups."""

    users: NDArray[np.int64]
    tags: NDArray[np.int64]
    friend: NDArray[np.int64]
    tagged: NDArray[np.int64]
    related: NDArray[np.int64]
    member: NDArray[np.int64]


def read(paths: Sequence[Path]) -> Crawl:
    """The crawl from either form."""
    return _from_matlab(paths[0]) if len(paths) == 1 else _from_folder(paths)


def build(entry: Entry, crawl: Crawl) -> Dataset:
    """The users of the five largest groups and their tags."""
    groups, sizes = np.unique(crawl.member[:, 1], return_counts=True)
    largest = np.sort(groups[np.argsort(-sizes, kind="stable")[:LARGEST_GROUPS]])
    member = crawl.member[np.isin(crawl.member[:, 1], largest)]
    users = crawl.users[np.isin(crawl.users, member[:, 0])]
    tagged = crawl.tagged[np.isin(crawl.tagged[:, 0], users)]
    tags = np.unique(tagged[:, 1])
    order = np.argsort(users)
    labels = np.zeros((len(users), len(largest)), np.uint8)
    labels[order[np.searchsorted(users[order], member[:, 0])], np.searchsorted(largest, member[:, 1])] = 1
    graph = Graph.from_relations(
        {FRIEND: _among(crawl.friend, users), TAGGED: tagged, RELATED: _among(crawl.related, tags)},
        nodes={"user": users, "tag": tags},
    )
    return Dataset(
        name=entry.name,
        graph=graph,
        labels={"user": labels},
        label_names=tuple(map(str, largest)),
        features=None,
        splits={},
        source=entry.credit,
        raw=typed_counts(
            {"user": len(crawl.users), "tag": len(crawl.tags)},
            {FRIEND: crawl.friend, TAGGED: crawl.tagged, RELATED: crawl.related},
        ),
    )


def _among(pairs: NDArray[np.int64], kept: NDArray[np.int64]) -> NDArray[np.int64]:
    return pairs[np.isin(pairs, kept).all(axis=1)]


def _from_folder(paths: Sequence[Path]) -> Crawl:
    nodes, friend, member, tagged, related = (
        _numbers(path, columns) for path, columns in zip(paths, (1, 2, 2, 2, 2), strict=True)
    )
    users = nodes[:, 0]
    for path, column in ((paths[1], friend), (paths[2], member[:, 0]), (paths[3], tagged[:, 0])):
        unknown = column[~np.isin(column, users)]
        if len(unknown):
            raise unfit(path, f"users must be among those of nodes.csv, got {unknown[0]}")
    return Crawl(users, np.union1d(tagged[:, 1], related), friend, tagged, related, member)


def _numbers(path: Path, columns: int) -> NDArray[np.int64]:
    """A csv file of whole numbers without a header, (rows, columns)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # an empty file is reported below, in our words
            table = np.loadtxt(path, np.int64, delimiter=",", ndmin=2)
    except UNREADABLE as problem:
        raise unfit(path, f"must hold {columns} whole numbers a line ({problem})") from None
    if table.shape[1] != columns or not len(table):
        raise unfit(path, f"must hold {columns} whole numbers a line, got shape {table.shape}")
    return table


def _from_matlab(path: Path) -> Crawl:
    """Four matrices; users, tags and groups are numbered from 1, as MATLAB does."""
    found = read_matrices(path)
    matrices = {name: _sparse(path, found, name) for name in MATLAB_MATRICES}
    users, tags = matrices["usertag"].shape
    sizes = {"user": users, "tag": tags, "group": matrices["usercategory"].shape[1]}
    for name, (rows, columns) in MATLAB_MATRICES.items():
        wanted = (sizes[rows], sizes[columns])
        if matrices[name].shape != wanted:
            raise unfit(path, f"{name} must have the shape {wanted}, got {matrices[name].shape}")
    pairs = {name: np.column_stack(matrix.nonzero()).astype(np.int64) + 1 for name, matrix in matrices.items()}
    return Crawl(
        users=np.arange(1, users + 1),
        tags=np.arange(1, tags + 1),
        friend=pairs["friendship"],
        tagged=pairs["usertag"],
        related=pairs["tagnetwork"],
        member=pairs["usercategory"],
    )


def _sparse(path: Path, found: dict[str, Any], name: str) -> Any:
    if name not in found:
        raise unfit(path, f"must hold a matrix {name!r}, got {listed(found) or 'none'}")
    return sp.coo_array(found[name])
