"""The install of a first `make`: one short line of what pip is at."""

from __future__ import annotations

import runpy
from pathlib import Path

install = runpy.run_path(str(Path(__file__).parents[1] / "scripts" / "install.py"))


def test_a_step_is_a_short_line_however_many_packages_there_are():
    said = ["Obtaining file:///somewhere\n", "Collecting numpy>=1.26 (from pine-embedding)\n"]
    said += [
        "  Downloading numpy-2.4.6-cp311-cp311-manylinux_2_28_x86_64.whl (16.9 MB)\n",
        "Requirement already there\n",
    ]
    assert install["step"]([]) == "pip begins"
    assert install["step"](said) == "1 packages found, downloading numpy-2.4.6-cp311-cp311-manylinux_2_28_x86_64.whl"
    names = ", ".join(f"package{i}" for i in range(70))
    assert install["step"]([*said, f"Installing collected packages: {names}\n"]) == "installing 70 packages"
