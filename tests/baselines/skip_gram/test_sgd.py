"""A batch of walks moves every row by the mean of the updates of those walks that changed it."""

from __future__ import annotations

import numpy as np

from pine.baselines.skip_gram.sgd import RowCopies, average_rows, sort_by_shard
from pine.baselines.skip_gram.simd import LANES


def test_a_row_moves_by_the_mean_of_the_updates_of_the_walks_that_changed_it():
    x, y = np.zeros((4, LANES), np.float32), np.ones((4, LANES), np.float32)
    updates = np.zeros((2, 3, LANES), np.float32)
    updates[0, :2], updates[1, 0] = [[8.0], [2.0]], 4.0

    def copies(used, rows):
        """Of two walks, with the rows in two shards."""
        order, starts = np.zeros((2, 3), np.int32), np.zeros((2, 3), np.int64)
        made = RowCopies(np.array(used), np.array(rows, np.int32), updates, order, starts)
        for walk in range(2):
            sort_by_shard(walk, 4, made)
        return made

    of_x, of_y = copies([2, 1], [[3, 1, 0], [1, 0, 0]]), copies([0, 0], [[0, 0, 0], [0, 0, 0]])
    assert of_x.order[0, :2].tolist() == [1, 0]
    assert of_x.shard_starts.tolist() == [[0, 1, 2], [0, 1, 1]]
    touched = np.zeros(4, np.int32)
    for shard in (0, 1):
        average_rows(shard, shard, shard + 1, 2, x, y, touched, of_x, of_y)
    assert x[:, 0].tolist() == [0, 3, 0, 8]
    assert (y == 1).all()
    assert not touched.any()
