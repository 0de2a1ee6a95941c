"""Docstrings as Markdown, for the reference of the site: lines "name: what it is" become a list.

The layers for PyTorch Geometric have docstrings in that library's way; their :obj: and :math: are turned as well.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \w+)*)(?: \(.*?\))?: (?=\S)")
TITLE = re.compile(r"^(Args|Shapes):$")


def as_markdown(text: str) -> str:
    """Lists of settings and arguments as lists, everything else as it is."""
    if ":math:" in text or ".. math::" in text:
        text = without_roles(text)
    lines: list[str] = []
    listing = False
    for line in text.splitlines():
        entry = ENTRY.match(line)
        if entry:
            if not listing:
                lines.append("")
            names = ", ".join(f"`{name}`" for name in entry[1].split(", "))
            lines.append(f"- {names}: {line[entry.end() :]}")
            listing = True
        elif listing and line.startswith("    "):
            lines.append("  " + line.strip())
        else:
            if listing and line.strip():
                lines.append("")
            listing = False
            lines.append(line)
    return "\n".join(lines)


def without_roles(text: str) -> str:
    """Formulas between dollars, and lists of arguments to the left."""
    text = re.sub(r":math:`(.*?)`", r"$\1$", text, flags=re.DOTALL)
    text = re.sub(r":(?:obj|class):`(.*?)`", r"`\1`", text, flags=re.DOTALL)
    text = re.sub(
        r"\.\. math::\n((?:    .*\n)+)",
        lambda block: "$$\n" + "\n".join(map(str.strip, block[1].splitlines())) + "\n$$\n",
        text,
    )
    lines, inside = [], False
    for line in text.splitlines():
        if TITLE.match(line):
            inside = True
            lines += [f"**{line[:-1]}**", ""]
            continue
        inside = inside and (not line or line.startswith("    "))
        lines.append(line[4:] if inside else line)
    return "\n".join(lines)


class MarkdownDocstrings(griffe.Extension):
    """Rewrites each docstring once, when it is read."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
