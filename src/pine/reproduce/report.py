"""The report: one HTML file, with pictures inside, that puts the paper's sentences beside what was measured."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pine._internal.files import atomic_write
from pine.reproduce.claims import Verdict
from pine.reproduce.experiment import Experiment
from pine.reproduce.figures import Picture
from pine.reproduce.figures.picture import DPI
from pine.reproduce.kinds import KINDS

STYLE = """
:root { color-scheme: light dark; --page: #ffffff; --text: #1b1b1b; --soft: #555555; --line: #d0d0d0; --yes: #00684e;
  --no: #a33d00; }
@media (prefers-color-scheme: dark) {
  :root { --page: #16181b; --text: #e8e8e8; --soft: #b4b4b4; --line: #44484d; --yes: #5fd3ad; --no: #ffa167; }
}
body { font: 16px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--text); background: var(--page); overflow-wrap: break-word; }
h1, h2 { line-height: 1.2; }
h2 { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1.5rem; }
.scroll { overflow-x: auto; margin: .6rem 0 1.4rem; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
.claims th, .claims td { text-align: left; vertical-align: top; white-space: normal; }
figure { margin: 1rem 0; padding: .8rem; border-radius: .6rem; background: white; overflow-x: auto; }
@media (prefers-color-scheme: light) { figure { border: 1px solid var(--line); } }
img { display: block; max-width: 100%; }
code { overflow-wrap: anywhere; }
.yes { color: var(--yes); font-weight: 600; } .no { color: var(--no); font-weight: 600; }
.small { color: var(--soft); font-size: .9rem; }
a { color: inherit; }
@media (max-width: 44rem) {
  img { max-width: none; width: calc(4rem * var(--inches)); }
  .scroll tr > :first-child { position: sticky; left: 0; background: var(--page); }
  .claims tr:first-child { display: none; }
  .claims tr { display: block; padding: .6rem 0; border-bottom: 1px solid var(--line); }
  .claims td { display: block; padding: .1rem 0; border: 0; }
  .claims td:first-child { font-weight: 600; }
}
"""

SIGNIFICANT_IN = (
    "Significant in so many cells: paired t-tests (p &lt; .05) over the splits or seeds of a cell, with Holm's "
    "correction over all cells of the comparison. &ldquo;First&rdquo; goes by means."
)


@dataclass(frozen=True)
class Section:
    """What the report has to say of one experiment."""

    experiment: Experiment
    tables: str
    pictures: Sequence[Picture]
    verdicts: Sequence[Verdict]


def write_report(sections: Sequence[Section], facts: Sequence[str], path: Path) -> None:
    """Write the page: what the paper has in its order, then the rest."""
    sections = sorted(sections, key=lambda section: _in_paper(section.experiment.place))
    body = [
        "<h1>The paper's experiments, measured</h1>",
        *(f'<p class="small">{html.escape(fact)}</p>' for fact in facts),
        _claims(sections),
        *(_section(section) for section in sections),
    ]
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>PINE: the paper\'s experiments</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{STYLE}</style></head>\n<body>\n" + "\n".join(body) + "\n</body></html>\n"
    )
    with atomic_write(path) as file:
        file.write(page.encode())


def _in_paper(place: str) -> tuple[bool, str]:
    return not place.startswith("Section"), place if place.startswith("Section") else ""


def _claims(sections: Sequence[Section]) -> str:
    """Every claim with its place in the paper and the experiment here that checks it."""
    lines = ["<table class='claims'><tr><th>The paper says</th><th>where</th><th>here</th><th>numbers</th></tr>"]
    tested = False
    for section in sections:
        name = section.experiment.name
        for verdict in section.verdicts:
            claim, tested = verdict.claim, tested or verdict.significant is not None
            link = f"<div class='small'><a href='#{name}'>{html.escape(name)}</a></div>"
            cells = [html.escape(claim.text), html.escape(claim.place) + link, _outcome(verdict)]
            cells.append(_numbers(verdict, name))
            lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    note = f"<p class='small'>{SIGNIFICANT_IN}</p>" if tested else ""
    return "\n".join(["<div class='scroll'>", *lines, f"</table></div>{note}"])


def _outcome(verdict: Verdict) -> str:
    kind = ("yes" if verdict.holds else "no") if verdict.entries else "small"
    return f"<span class='{kind}'>{html.escape(verdict.summary)}</span>"


def _numbers(verdict: Verdict, name: str) -> str:
    """The numbers of a verdict, and below them the rule by which it was decided; the command where there are none."""
    if not verdict.entries:
        return f"<code>pine reproduce {html.escape(name)}</code>, where its data is at hand"
    rule = f"<div class='small'>Counted as held: {html.escape(verdict.rule)}.</div>" if verdict.rule else ""
    return html.escape(verdict.numbers) + rule


def _section(section: Section) -> str:
    experiment = section.experiment
    parts = [
        f"<h2 id='{experiment.name}'>{html.escape(experiment.title)}</h2>",
        f"<p class='small'>{html.escape(experiment.place)} · pine reproduce {experiment.name}</p>",
        *map(_picture, section.pictures),
        as_html(section.tables),
        _searched(experiment),
    ]
    return "\n".join(part for part in parts if part)


def _picture(picture: Picture) -> str:
    data = picture.path.read_bytes()
    inches = int.from_bytes(data[16:20], "big") / DPI  # a PNG file has its width there
    source = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    image = f"<img style='--inches: {inches:.1f}' alt='{html.escape(picture.text)}' src='{source}'>"
    return f"<figure tabindex='0'>{image}</figure>"


def _searched(experiment: Experiment) -> str:
    """Which settings methods were given, and how they chose."""
    lines = [f"{method.name}: {', '.join(method.specs())}" for method in experiment.methods if method.search]
    if not lines:
        return ""
    shown = "".join(f"<li><code>{html.escape(line)}</code></li>" for line in lines)
    where = KINDS[experiment.kind].chosen_on
    return f"<details><summary>Settings that methods chose from, on {where}</summary><ul>{shown}</ul></details>"


def as_html(markdown: str) -> str:
    """Tables, bold text and paragraphs of Markdown as HTML; that is all that tables use."""
    made, table = [], False
    for line in markdown.splitlines():
        if line.startswith("|"):
            if set(line) <= set("|-"):
                continue
            made.append("" if table else "<div class='scroll' tabindex='0'><table>")
            cell = "td" if table else "th"
            texts = [text.strip() for text in line.strip("|").split(" | ")]
            made.append("<tr>" + "".join(f"<{cell}>{_inline(text)}</{cell}>" for text in texts) + "</tr>")
            table = True
            continue
        if table:
            made.append("</table></div>")
            table = False
        if line:
            made.append(f"<p>{_inline(line)}</p>")
    return "\n".join([*made, "</table></div>"] if table else made)


def _inline(text: str) -> str:
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", html.escape(text))
