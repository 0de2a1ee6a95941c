"""Arrays in files: they read as zeros, have no name, and a folder without room is told in one sentence."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest

from pine._internal.mapped import FileOfFloats, MappedArrays
from pine.errors import InputError


def test_an_array_begins_as_zeros_and_keeps_what_is_written(tmp_path):
    arrays = MappedArrays(tmp_path / "new" / "folder")
    array = arrays.zeros(3, 5, dtype=np.int64)
    assert array.shape == (3, 5)
    assert array.dtype == np.int64
    assert not array.any()
    array[1] = 7
    assert array.sum() == 35


def test_its_file_has_no_name_so_that_nothing_stays_behind(tmp_path):
    array = MappedArrays(tmp_path).zeros(1000)
    assert list(tmp_path.iterdir()) == []
    array[:] = 1
    assert array.sum() == 1000


def test_its_room_on_the_disk_is_taken_and_given_back(tmp_path):
    def used() -> int:
        about = os.statvfs(tmp_path)
        return (about.f_blocks - about.f_bfree) * about.f_frsize

    size = 64 << 20
    before = used()
    array = MappedArrays(tmp_path).zeros(size // 4)
    taken = used() - before
    del array
    assert taken > 0.9 * size - (8 << 20)
    assert used() - before < taken - size // 2


def test_an_empty_array_needs_no_file(tmp_path):
    assert MappedArrays(tmp_path).zeros(0, 5).shape == (0, 5)


def test_a_full_disk_is_found_before_anything_is_written(tmp_path, monkeypatch):
    def full(file, start, size):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(InputError, match=r"^cannot keep 4 KB in a file of .*: No space left on device; name a folder"):
        MappedArrays(tmp_path).zeros(1000)


def test_a_file_system_that_cannot_reserve_room_is_used_as_it_is(tmp_path, monkeypatch):
    def cannot(file, start, size):
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(os, "posix_fallocate", cannot)
    assert MappedArrays(tmp_path).zeros(1000).sum() == 0


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot make the folder"):
        MappedArrays(tmp_path / "file" / "folder")


def test_floats_are_read_and_written_by_ranges(tmp_path):
    floats = FileOfFloats(MappedArrays(tmp_path), 100)
    assert not floats.read(0, 100).any()
    floats.write(40, np.arange(10, dtype=np.float32).reshape(2, 5))
    np.testing.assert_array_equal(floats.read(38, 14), [0, 0, *range(10), 0, 0])


def test_what_the_system_moves_in_parts_arrives_whole(tmp_path, monkeypatch):
    floats = FileOfFloats(MappedArrays(tmp_path), 100)
    read, write = os.preadv, os.pwritev
    monkeypatch.setattr(os, "preadv", lambda file, buffers, place: read(file, [buffers[0][:7]], place))
    monkeypatch.setattr(os, "pwritev", lambda file, buffers, place: write(file, [buffers[0][:9]], place))
    floats.write(3, np.arange(20, dtype=np.float32))
    np.testing.assert_array_equal(floats.read(3, 20), np.arange(20))
    with pytest.raises(OSError, match="ended too soon"):
        floats.read(90, 20)


def test_its_file_is_closed_with_it(tmp_path):
    floats = FileOfFloats(MappedArrays(tmp_path), 10)
    file = floats.file
    os.fstat(file)
    del floats
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(file)


def test_a_system_that_cannot_read_by_ranges_is_said(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "preadv")
    with pytest.raises(InputError, match="leave mmap_dir out, or use Linux or macOS"):
        FileOfFloats(MappedArrays(tmp_path), 10)
