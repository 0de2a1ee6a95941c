"""Specs of inductive networks."""

from __future__ import annotations

import pytest

from pine import InputError
from pine.reproduce.inductive.settings import SETTINGS, WholeSettings, parse


def test_specs_are_read_and_wrong_ones_refused():
    assert parse("sampled") == SETTINGS["sampled"]
    assert parse("whole:layer=gat+pine:width=16:learning_rate=0.1:root=false") == WholeSettings(
        layer="gat+pine", width=16, learning_rate=0.1, root=False
    )
    for spec, message in [
        ("gat", "unknown setting 'gat'"),
        ("whole:samples_1=2", "whole has no setting 'samples_1'; did you mean"),
        ("whole:layer=gcn", "layer takes 'gat'"),
        ("whole:root=1", "root takes true or false"),
        ("sampled:width=8:width=16", "each key once"),
        ("sampled:learning_rate=0", "learning_rate takes a number above 0"),
        ("sampled:width=2.5", "a whole number"),
        ("sampled:epochs=0", "epochs takes a whole number of at least 1, got '0'"),
        ("whole:layer=pine-attention:hidden=10", "multiple of both"),
    ]:
        with pytest.raises(InputError, match=message):
            parse(spec)
