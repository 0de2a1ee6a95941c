"""Hooks of mkdocs.yml: the pages of the site that are not written under docs/, links between them, and formulas.

The README's results, the benchmarks, the changelog and the others of PAGES stay where they are in the repository and
become pages of the site; so do the examples and the notebooks. A link to anything else in the repository becomes plain
text: the site has no such page. Formulas become MathML, which browsers draw by themselves.
"""

from __future__ import annotations

import base64
import html
import json
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
README_PARTS = ("## How this differs from the paper", "## Results")


def results_of(readme: str) -> str:
    """What the README has measured, as a page of its own."""
    sections = re.split(r"(?m)^(?=## )", readme)
    chosen = [section for title in README_PARTS for section in sections if section.startswith(title + "\n")]
    assert len(chosen) == len(README_PARTS), "the README has other sections"
    return "# Results\n\n" + "".join(chosen)


def with_tables(readme: str) -> str:
    """The page about the full run, with links to the tables beside it."""
    tables = sorted(path for path in (ROOT / "results").glob("*.md") if path.name != "README.md")
    links = [f"- [{path.read_text(encoding='utf-8').splitlines()[0].lstrip('# ')}]({path.name})" for path in tables]
    return readme + "\n## Tables and figures\n\n" + "\n".join(links) + "\n"


def as_it_is(text: str) -> str:
    return text


# A page of the site: the file it is made of, and how.
PAGES: dict[str, tuple[str, Callable[[str], str]]] = {
    "results.md": ("README.md", results_of),
    "benchmarks.md": ("benchmarks/README.md", as_it_is),
    "changelog.md": ("CHANGELOG.md", as_it_is),
    "contributing.md": ("CONTRIBUTING.md", as_it_is),
    "security.md": ("SECURITY.md", as_it_is),
    "full-run/index.md": ("results/README.md", with_tables),
}
PICTURES = {"benchmarks-curve.png": "benchmarks/curve.png"}


def example_page(name: str, code: str) -> str:
    """An example as a page."""
    title = name.removesuffix(".py").replace("_", " ")
    return f"# Example: {title}\n\n```python\n{code}```\n"


# ---- notebooks ----


def joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


def cell_text(cell: Mapping[str, Any], picture: Callable[[str], str]) -> Iterator[str]:
    """The Markdown of a cell of a notebook; picture keeps a PNG and gives its address."""
    source = joined(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
    if cell["cell_type"] != "code":
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        shown = output.get("data", {})
        if "image/png" in shown:
            yield f"![What the cell draws]({picture(joined(shown['image/png']))})"
        elif "text" in output or "text/plain" in shown:
            yield f"```text\n{joined(output.get('text', shown.get('text/plain', ''))).rstrip()}\n```"


def notebook_page(notebook: Mapping[str, Any], picture: Callable[[str], str]) -> str:
    """A notebook as Markdown."""
    return "\n\n".join(text for cell in notebook["cells"] for text in cell_text(cell, picture)) + "\n"


# ---- mkdocs calls these ----


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made of files elsewhere, and leave out of the navigation what is not there."""

    def add(address: str, content: str | bytes) -> None:
        files.append(File.generated(config, address, content=content))

    for address, (source, make) in PAGES.items():
        add(address, make((ROOT / source).read_text(encoding="utf-8")))
    for address, source in PICTURES.items():
        add(address, (ROOT / source).read_bytes())
    for path in sorted((ROOT / "results").glob("*")):
        if path.suffix in (".md", ".png") and path.name != "README.md":
            add(f"full-run/{path.name}", path.read_bytes())
    for path in sorted((ROOT / "examples").glob("*.py")):
        add(f"examples/{path.stem}.md", example_page(path.name, path.read_text(encoding="utf-8")))
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        pictures: list[str] = []

        def keep(encoded: str, stem: str = path.stem, pictures: list[str] = pictures) -> str:
            pictures.append(f"{stem}-{len(pictures) + 1}.png")
            add(f"notebooks/{pictures[-1]}", base64.b64decode(encoded))
            return pictures[-1]

        add(f"notebooks/{path.stem}.md", notebook_page(json.loads(path.read_text(encoding="utf-8")), keep))
    config.nav = present(config.nav, {file.src_uri for file in files})
    return files


def present(nav: Any, pages: set[str]) -> Any:
    """The entries of a navigation that are there."""
    if isinstance(nav, str):
        return nav if nav in pages else None
    if isinstance(nav, dict):
        return {title: present(entry, pages) for title, entry in nav.items()}
    return [entry for entry in (present(each, pages) for each in nav) if entry is not None]


LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|#)([^)\s#]*)(#[^)\s]*)?\)")
FENCE = re.compile(r"(?ms)^```.*?^```[^\S\n]*$")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links between files of the repository lead to pages of the site."""
    own = page.file.src_uri
    source = repository_path(own)

    def lead(link: re.Match[str]) -> str:
        mark, text, target, anchor = link[1], link[2], link[3], link[4] or ""
        place = posixpath.normpath(posixpath.join(posixpath.dirname(source), target)) if target else source
        found = site_path(place, anchor)
        if found is None or files.get_file_from_path(found) is None:
            return text
        return f"{mark}[{text}]({posixpath.relpath(found, posixpath.dirname(own))}{anchor})"

    parts, end = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [LINK.sub(lead, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, LINK.sub(lead, markdown[end:])])


def repository_path(address: str) -> str:
    """Where in the repository a page of the site comes from."""
    if address in PAGES:
        return PAGES[address][0]
    if address.startswith("full-run/"):
        return address.replace("full-run/", "results/", 1)
    return f"docs/{address}"


def site_path(path: str, anchor: str) -> str | None:
    """The page or picture of the site that a file of the repository became; None: there is none."""
    if path.endswith("/") or path in ("benchmarks", "results"):
        path = f"{path.rstrip('/')}/README.md"
    for address, (source, _) in PAGES.items():
        if path == source:
            return address
    for address, source in PICTURES.items():
        if path == source:
            return address
    if path.startswith("docs/"):
        return re.sub(r"\.ipynb$", ".md", path.removeprefix("docs/"))
    if path.startswith("examples/"):
        return re.sub(r"\.py$", ".md", path)
    if path.startswith("results/"):
        return path.replace("results/", "full-run/", 1)
    return None


def on_post_build(config: MkDocsConfig) -> None:
    """Write what the search looks in as a script too, which pages that are opened from the disk may load."""
    folder = Path(config.site_dir) / "search"
    index = (folder / "search_index.json").read_text(encoding="utf-8")
    (folder / "search_index.js").write_text(f"var __index = {index};\n", encoding="utf-8")


MATHML = "http://www.w3.org/1998/Math/MathML"
LIMITS = {f"{{{MATHML}}}msubsup": f"{{{MATHML}}}munderover", f"{{{MATHML}}}msub": f"{{{MATHML}}}munder"}
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn formulas into MathML."""

    return FORMULA.sub(lambda formula: mathml(html.unescape(formula[3]).strip(), formula[2] == "["), content)


def mathml(formula: str, on_its_own: bool) -> str:
    """A formula in TeX as MathML; on its own line, the limits of sums stand below and above them everywhere."""
    made = convert(formula, display="block" if on_its_own else "inline")
    if not on_its_own:
        return made
    ElementTree.register_namespace("", MATHML)
    tree = ElementTree.fromstring(made)
    for element in tree.iter():
        if element.tag in LIMITS and len(element) and element[0].text == "∑":
            element.tag = LIMITS[element.tag]
    return ElementTree.tostring(tree, encoding="unicode")
