"""Consoles on which the users' own words are printed as they are: `[b]`, `a:b:c` and `:smile:` mean nothing."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console

from pine.errors import printable


def plain_console(*, stderr: bool = False, quiet: bool = False) -> Console:
    """Standard output or standard error, without markup, emoji codes or colored numbers; lines are not broken."""
    return Console(stderr=stderr, quiet=quiet, markup=False, emoji=False, highlight=False, soft_wrap=True)


def print_lines(console: Console, lines: Iterable[str]) -> None:
    """One after the other."""
    for line in lines:
        console.print(printable(line), soft_wrap=True)
