"""The state that ranks keep goes on with another number of ranks."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.rank_fits import STOP, interrupted
from support.ranks import on_ranks
from torch.distributed.checkpoint.metadata import _MEM_FORMAT_ENCODING

from pine import InputError
from pine.model.rank_checkpoint import _about, _check_sums, _reader, _sums


def test_four_ranks_go_on_from_the_state_of_two(tmp_path: Path):
    place = tmp_path / "state"
    assert on_ranks(2, interrupted, place, STOP) == [None, None]
    assert json.loads((place / "about.json").read_text())["epochs"] == STOP
    (state,) = (each.name for each in place.iterdir() if each.is_dir())
    assert state == "1"
    (place / "notes.txt").write_text("of somebody else")
    first, *_ = on_ranks(4, interrupted, place, None)
    assert [each.name for each in place.iterdir()] == ["notes.txt"]  # the state is gone, and nothing else
    alone = interrupted(None, None)
    assert first is not None
    assert alone is not None
    np.testing.assert_allclose(first, alone, atol=1e-4 * np.abs(alone).max())


def test_a_changed_byte_of_a_state_is_found_and_files_of_others_are_never_taken_for_one(tmp_path: Path):
    place = tmp_path / "1"
    place.mkdir()
    (place / "__0_0.distcp").write_bytes(b"numbers")
    sums = _sums(place)
    _check_sums(place, sums)
    (place / "__0_0.distcp").write_bytes(b"numbfrs")
    with pytest.raises(InputError, match="is damaged; remove"):
        _check_sums(place, sums)
    assert _about(tmp_path, "a fit") == {}  # a state that was begun and never named
    (tmp_path / "thesis.txt").write_text("of somebody else")
    with pytest.raises(InputError, match="holds files that are no state of a fit"):
        _about(tmp_path, "a fit")


def test_a_table_of_contents_that_asks_for_other_names_is_refused(tmp_path: Path):
    (tmp_path / ".metadata").write_bytes(pickle.dumps(print))
    with pytest.raises(InputError, match=r"is not the state of a fit \(it asks for builtins.print\)"):
        _reader(tmp_path).read_metadata()


class AsGetattr:
    """Pickled as getattr(of, name), in which way the first Pythons 3.11 write members of enumerations."""

    def __init__(self, of: Any, name: Any) -> None:
        self.of, self.name = of, name

    def __reduce__(self) -> Any:
        return getattr, (self.of, self.name)


def test_members_of_allowed_enumerations_are_read_as_older_pythons_write_them_and_nothing_else_by_getattr(tmp_path):
    member = _MEM_FORMAT_ENCODING.TORCH_CONTIGUOUS_FORMAT
    (tmp_path / ".metadata").write_bytes(pickle.dumps(AsGetattr(_MEM_FORMAT_ENCODING, member.name)))
    assert _reader(tmp_path).read_metadata() is member
    for of, name in ((type(tmp_path), "unlink"), (_MEM_FORMAT_ENCODING, "__class__"), (_MEM_FORMAT_ENCODING, ["mro"])):
        (tmp_path / ".metadata").write_bytes(pickle.dumps(AsGetattr(of, name)))
        with pytest.raises(InputError, match="is not the state of a fit"):
            _reader(tmp_path).read_metadata()
