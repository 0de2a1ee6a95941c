"""The page as one file to send: scripts and style inside, allowed by their sums alone; data as compressed base64.

A file cannot ask a server: what is near every node is inside too, as long as that stays small.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.explore.explored import Explored
from pine.explore.page_data import page_data, shares, small_integers
from pine.explore.page_files import FRAME, PLACE_OF_DATA, PLACE_OF_FILES, SCRIPTS, STYLE_SHEET, page_file

MOST_WITH_NEAREST = 50_000  # nodes
MOST_LINKS = 2_000_000  # entries of the matrix of links


def html_of(explored: Explored) -> str:
    """The whole page, which needs nothing else and asks nobody."""
    more, left_out = _what_is_near(explored)
    packed = gzip.compress(page_data(explored, more, left_out), 6, mtime=0)
    style, scripts = page_file(STYLE_SHEET), [page_file(name) for name in SCRIPTS]
    policy = "; ".join(
        [
            "default-src 'none'",
            "script-src " + " ".join(map(_source, scripts)),
            f"style-src {_source(style)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>{style}</style>'
    data = f'<script id="data" type="application/octet-stream">{base64.b64encode(packed).decode("ascii")}</script>\n'
    body = data + "\n".join(f"<script>{script}</script>" for script in scripts)
    return page_file(FRAME).replace(PLACE_OF_FILES, head).replace(PLACE_OF_DATA, body)


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


def _what_is_near(explored: Explored) -> tuple[dict[str, NDArray[Any]], str]:
    """Arrays of nearest vectors and of neighbors, and a sentence about those that would be too large."""
    more: dict[str, NDArray[Any]] = {}
    left_out = []
    if len(explored.nodes) <= MOST_WITH_NEAREST:
        numbers, cosines = explored.all_nearest()
        more["near.numbers"] = numbers.astype(np.int32).ravel()
        more["near.shares"] = shares((cosines.ravel() + 1) / 2)
    else:
        left_out.append(f"nearest vectors (above {MOST_WITH_NEAREST:,} nodes)")
    matrix = explored.matrix
    if matrix is not None and matrix.nnz <= MOST_LINKS:
        more["links.starts"] = matrix.indptr.astype(np.uint32)
        more["links.members"] = small_integers(matrix.indices)
    elif matrix is not None:
        left_out.append(f"neighbors in the graph (above {MOST_LINKS // 2:,} edges)")
    said = f"Left out of this file: {' and '.join(left_out)}; the page that is served has them." if left_out else ""
    return more, said
