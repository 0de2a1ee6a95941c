"""Every code block of docs/ runs, and prints what stands below it; the site has every page and asks no other host."""

from __future__ import annotations

import os
import re
import runpy
import shutil
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.documents import DOCS, MADE_ELSEWHERE, PROGRAMS, TEXTS, blocks, pages, run_page, same

PAGES = pages()
# Blocks that are shown and not run, a page: the reason stands above each.
NOT_RUN = {"large.md": 4, "start.md": 2, "index.md": 1, "explore.md": 1, "links.md": 1}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.filterwarnings("default")
def test_the_code_of_a_page_runs_and_prints_what_is_shown(page: str, tmp_path: Path):
    for block, printed in run_page(page, PAGES[page], tmp_path):
        place = f"docs/{page}, line {block.line}: python scripts/write_docs.py {page} writes it anew"
        if block.language == "python":
            assert same(printed, block.shown or ""), f"{place}\n{printed}"
        elif block.language == "console":
            assert same(printed, block.code), f"{place}\n{printed}"


def test_blocks_that_are_not_run_say_why_and_are_counted():
    skipped = [block for page, text in PAGES.items() for block in blocks(page, text) if block.reason is not None]
    assert all(len(block.reason or "") > 10 for block in skipped)
    assert dict(Counter(block.page for block in skipped)) == NOT_RUN


def test_every_block_has_a_language_so_that_none_escapes():
    for page, text in PAGES.items():
        for block in blocks(page, text):
            assert block.language in PROGRAMS + TEXTS, f"docs/{page}, line {block.line}: {block.language!r}"
            is_text = block.language in TEXTS and block.file is None
            assert not (is_text and re.search(r"(?m)^(\$ |pine |import |from \w+ import )", block.code)), (
                f"docs/{page}, line {block.line}"
            )


def test_a_page_that_is_run_elsewhere_is_named_there():
    for page, test in MADE_ELSEWHERE.items():
        assert (DOCS / page).exists()
        assert f"docs/{page}" in (DOCS.parent / test).read_text(encoding="utf-8")


# ---- notebooks and the site ----


NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


SLOW_NOTEBOOKS = ("cora",)  # half a minute


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.stem in SLOW_NOTEBOOKS else [])
        for path in NOTEBOOKS
    ],
)
@pytest.mark.filterwarnings("default")
def test_a_notebook_runs_and_prints_as_many_lines_as_it_shows(path: Path):
    pytest.importorskip("ipykernel", reason="notebooks need ipykernel")
    nbformat = pytest.importorskip("nbformat")
    run = runpy.run_path(str(DOCS.parent / "scripts" / "write_notebooks.py"))["run"]
    for now, kept in zip(run(path).cells, nbformat.read(path, as_version=4).cells, strict=True):
        if now.cell_type == "code":
            shown = [printed(cell) for cell in (now, kept)]
            assert same(*shown) or shown[0].count("\n") == shown[1].count("\n"), f"{now.source}\n{shown[0]}"


def printed(cell: Any) -> str:
    """What a cell wrote to standard output."""
    return "".join(output.text for output in cell.outputs if output.get("name") == "stdout")


def test_notebooks_are_small_and_hold_no_errors():
    assert {path.stem for path in NOTEBOOKS} >= {"cora", "typed"}
    for path in NOTEBOOKS:
        text = path.read_text(encoding="utf-8")
        assert len(text) < 300_000, path.name
        assert '"output_type": "error"' not in text


def test_every_page_is_in_the_navigation():
    config = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    listed = set(re.findall(r"[\w/-]+\.md", config.partition("\nnav:\n")[2].partition("\ntheme:\n")[0]))
    assert {path.name for path in DOCS.glob("*.md")} <= listed
    assert {f"notebooks/{path.stem}.md" for path in NOTEBOOKS} <= listed


class Resources(HTMLParser):
    """The addresses that a browser loads for a page by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        loads = {"script": "src", "img": "src", "link": "href", "iframe": "src"}.get(tag)
        if loads and about.get("rel") not in ("canonical", "prev", "next"):
            self.found.append(about.get(loads) or "")


def build_site(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Build the site into a folder."""
    build = pytest.importorskip("mkdocs.commands.build")
    load_config = pytest.importorskip("mkdocs.config").load_config
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "true")
    config = load_config(str(DOCS.parent / "mkdocs.yml"), site_dir=str(folder), strict=True)
    build.build(config)  # strict: a broken link is an error


@pytest.mark.filterwarnings("default")
def test_the_site_is_built_without_a_warning_and_loads_nothing_from_other_hosts(tmp_path: Path, monkeypatch):
    build_site(tmp_path, monkeypatch)
    made = sorted(tmp_path.rglob("*.html"))
    assert len(made) >= len(PAGES)
    for path in made:
        text = path.read_text(encoding="utf-8")
        resources = Resources()
        resources.feed(text)
        foreign = [address for address in resources.found if re.match(r"(?:https?:)?//", address)]
        assert not foreign, f"{path.name}: {foreign}"
        assert "arithmatex" not in text, f"{path.name} has a formula that was not drawn"
    for sheet in tmp_path.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//", sheet.read_text(encoding="utf-8")), sheet.name
    method = (tmp_path / "method.html").read_text(encoding="utf-8")
    assert method.count("<math") > 10
    listed = re.search(r'href="full-run/index\.html"[^>]*>\s*(<[^>]+>\s*)*The full run', method)
    assert listed, "an index page of a folder is an entry of the navigation like others"
    assert (tmp_path / "search" / "search_index.js").read_text(encoding="utf-8").startswith("var __index = {")


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_the_search_of_the_site_works_from_the_disk(tmp_path: Path, monkeypatch):
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs Chromium: apt-get install chromium, or CHROMIUM=path")
    build_site(tmp_path, monkeypatch)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--headless=new", "--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.goto((tmp_path / "full-run" / "index.html").as_uri())
        page.click("input.md-search__input")
        page.keyboard.type("metapaths")
        page.locator(".md-search-result__link").first.wait_for()
        assert all(url.startswith(("file:", "data:")) for url in requests)
        found = page.locator(".md-search-result__link").first.get_attribute("href")
        assert Path(urlsplit(found).path).is_relative_to(tmp_path)
        assert Path(urlsplit(found).path).is_file()
        browser.close()


@pytest.mark.parametrize(
    ("printed", "shown", "alike"),
    [
        ("accuracy 0.86\n", "accuracy 0.84\n", True),
        ("accuracy 0.86\n", "accuracy 0.66\n", False),
        ("77 nodes\n", "78 nodes\n", False),
        ("needs 450.5 MB, 3.4 s\n", "needs 12 GB, 99 s\n", True),
        ("a\nb\nc\n", "a\n...\nc\n", True),
        ("a\nb\nc\n", "a\n...\nd\n", False),
        ("a\n", "", False),
    ],
)
def test_outputs_are_compared_by_words_and_rough_numbers(printed: str, shown: str, alike: bool):
    assert same(printed, shown) is alike
