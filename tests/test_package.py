"""The wheel and the source archive hold all of PINE, and work in empty environments on all Pythons that we support."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from pine import __version__

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "pine"
PYTHONS = ("3.11", "3.12", "3.13")


def data_patterns() -> list[str]:
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return list(about["tool"]["setuptools"]["package-data"]["pine"])


def test_every_file_of_the_package_that_is_no_code_goes_into_the_wheel():
    others = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    for path in others:
        inside = PurePosixPath(path.relative_to(PACKAGE).as_posix())
        matched = any(inside.match(pattern) for pattern in data_patterns())
        assert path.suffix == ".py" or matched, f"{inside} is in no pattern of package-data in pyproject.toml"


def test_the_changelog_begins_with_this_version_and_the_citation_has_it():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = [line for line in changelog.splitlines() if line.startswith("## ")]
    assert sections[0].startswith(("## [Unreleased]", f"## [{__version__}]"))
    assert any(line.startswith(f"## [{__version__}] - ") for line in sections[:2])
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


# ---- what follows builds and installs: minutes, and an index of packages ----


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the wheel and the source archive, made from a copy of the checkout's tracked and new files."""
    source, place = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for name in ("src", "LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "SECURITY.md", "MANIFEST.in"):
        origin = ROOT / name
        if origin.is_dir():
            shutil.copytree(origin, source / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(origin, source / name)
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(place), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return place


@pytest.mark.slow
def test_the_archives_hold_the_package_and_no_tests(built: Path):
    (wheel,), (archive,) = built.glob("*.whl"), built.glob("*.tar.gz")
    assert wheel.name.startswith(f"pine_embedding-{__version__}-py3-none-any")
    own = {path.relative_to(PACKAGE.parent).as_posix() for path in PACKAGE.rglob("*.py")}
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
    assert own <= names
    assert {"pine/py.typed", "pine/datasets/cora.npz"} <= names
    assert any(name.startswith("pine/reproduce/experiments/") and name.endswith(".toml") for name in names)
    assert all(name.startswith(("pine/", "pine_embedding-")) for name in names)
    with tarfile.open(archive) as packed:
        sources = {name.partition("/")[2] for name in packed.getnames()}
    assert {f"src/{name}" for name in own} <= sources
    assert {"LICENSE", "CHANGELOG.md", "constraints.txt", "pyproject.toml"} <= sources
    assert not any(name.startswith(("tests", "docs", "results")) for name in sources)


def interpreter(version: str) -> str | None:
    """A Python of that version, on the path or among pyenv's."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [shutil.which(f"python{version}"), *sorted(root.glob(f"versions/{version}.*/bin/python"))]
    for each in filter(None, candidates):
        done = subprocess.run([str(each), "--version"], capture_output=True, text=True)
        if done.returncode == 0 and done.stdout.startswith(f"Python {version}."):
            return str(each)
    return None


def smoke(python: str, package: Path, folder: Path) -> str:
    """Install a package into an empty environment, and use it; what the last line says."""
    subprocess.run([python, "-m", "venv", str(folder / "venv")], check=True)
    own = folder / "venv" / "bin" / "python"
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PINE"))}
    install = ["-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "constraints.txt"), str(package)]
    for words in (install, [str(ROOT / "scripts" / "smoke.py")]):
        done = subprocess.run([str(own), *words], capture_output=True, text=True, cwd=folder, env=environment)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    shutil.rmtree(folder / "venv")  # gigabytes
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("version", PYTHONS)
def test_the_wheel_works_in_an_empty_environment(version: str, built: Path, tmp_path: Path):
    python = interpreter(version)
    if python is None:
        pytest.skip(f"needs Python {version}")
    (wheel,) = built.glob("*.whl")
    said = smoke(python, wheel, tmp_path)
    print(said)
    assert said.startswith(f"pine {__version__} on Python {version}.")


@pytest.mark.slow
def test_the_source_archive_works_in_an_empty_environment(built: Path, tmp_path: Path):
    (archive,) = built.glob("*.tar.gz")
    assert smoke(sys.executable, archive, tmp_path).startswith(f"pine {__version__} on Python")
