"""Kept results go by revision numbers: what a method computes on a small graph may not change without its own.

If results are meant to change, raise the revision, then record anew: `python scripts/record_revisions.py`.
"""

from __future__ import annotations

import pytest
from support.revisions import Case, advice, cases, is_close, recorded, updated

CASES = dict(cases())


@pytest.mark.parametrize("name", CASES)
def test_outputs_are_those_recorded_for_the_revision(name):
    case, before = CASES[name], recorded().get(name)
    assert before is not None, f"{name} is not recorded: run `python scripts/record_revisions.py`"
    outputs = case.compute()
    if before["revision"] != case.revision:
        pytest.fail(f"{name} is of revision {case.revision}: record it with `python scripts/record_revisions.py`")
    if not is_close(outputs, before["outputs"]):
        pytest.fail(f"{name} computes something else: {advice(case)}.\nrecorded {before['outputs']}\nnow {outputs}")


def test_nothing_is_recorded_that_there_is_not():
    assert set(recorded()) == set(CASES)


def test_changed_outputs_are_recorded_under_a_new_revision_only():
    before = {"a": {"revision": 1, "outputs": [1.0, 2.0]}}
    same, raised = Case("A", 1, list), Case("A", 2, list)
    assert updated(before, {"a": (same, [1.0, 2.0000001])}) == before
    assert updated(before, {"a": (raised, [1.0, 3.0])}) == {"a": {"revision": 2, "outputs": [1.0, 3.0]}}
    assert updated({}, {"a": (same, [1.0])}) == {"a": {"revision": 1, "outputs": [1.0]}}
    with pytest.raises(SystemExit, match="a computes something else under revision 1"):
        updated(before, {"a": (same, [1.0, 2.1])})
    assert not is_close([1.0], [1.0, 2.0])
