"""Whether the first line of a file is a header: its words are no numbers and occur nowhere else in their columns."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from pine.errors import InputError, listed
from pine.graph.read.dialect import Dialect, is_number
from pine.graph.read.lines import whole_lines
from pine.graph.read.text import WIDE_LINE, read_batches, stripped

USUAL_NAMES = "source|target|src|dst|from|to|u|v|head|tail|start|end|weight|id|label|labels|class|y|type|name|value"
ID_NAMES = "(node|id)[-_ ]?[ab12]?|(from|to|source|target)[-_ ]?(node)?[-_ ]?(id)?"
HEADER_NAME = re.compile(rf"^#?\s*({USUAL_NAMES}|{ID_NAMES})$")


def find_header(
    file: Dialect,
    header: bool | None = None,
    names: Sequence[str] = (),
    types: tuple[str, ...] = (),
    columns: Sequence[int] = (0, 1),
) -> Dialect:
    """The same file, with its first line as a header if it is one; header None means: find out.

    A line with a column that the user named is one. columns: those whose words are looked for. types: the two node
    types of a relation, which are usual names for its columns.
    """
    if header is not None:
        return file.with_header() if header else file
    # Without a header, columns are named by their numbers.
    if any(name in file.first for name in names if name not in file.names):
        return file.with_header()
    first = [file.first[i] for i in columns]
    if any(is_number(field) for field in file.first) or not all(first):
        return file
    usual = tuple(first) == types or all(HEADER_NAME.match(word.lower()) for word in first)
    if not file.below().has_rows():
        return file.with_header() if usual else file
    if not occur_below(file, columns, first):
        if not usual:
            _warn_of_weak_evidence(file, columns, first)
        return file.with_header()
    if usual:
        raise InputError(
            f"{file.path}, line {file.skipped + 1}: {listed(first)} may be a header, but occur below, too; say "
            "which it is: header=True or False (--header or --no-header)"
        )
    return file


def occur_below(file: Dialect, columns: Sequence[int], words: Sequence[str]) -> bool:
    """Whether one of the first line's words is also further down in these columns, on any line."""
    below = file.below()
    plain = [word.encode() for word in words if '"' not in word]
    blocks = whole_lines(below.path, below.skipped, WIDE_LINE)
    # Most words of headers occur in no line at all, and bytes are searched faster than fields.
    if len(plain) == len(words) and not any(word in block for block in blocks for word in plain):
        return False
    wanted = pa.array(words, pa.string())
    for batch in read_batches(below, columns, [pa.string()] * len(columns)):
        if any(pc.any(pc.is_in(stripped(values), value_set=wanted)).as_py() for values in batch.columns):
            return True
    return False


def _warn_of_weak_evidence(file: Dialect, columns: Sequence[int], first: Sequence[str]) -> None:
    """Say so when a line is taken for a header among lines whose words are all different, too."""
    fields = [row[i] for row in file.sample[1:] for i in columns]
    if len(set(fields)) == len(fields) and not any(map(is_number, fields)):
        warnings.warn(
            f"{file.path}, line {file.skipped + 1} is read as a header: {listed(first)}; if it is data, say "
            "header=False (--no-header)",
            stacklevel=2,
        )
