"""The page of all experiments."""

from __future__ import annotations

from pine.reproduce.report import as_html


def test_tables_become_html_without_a_way_in_for_markup():
    page = as_html("**cora**\n\n| a <b> | c |\n|---|---|\n| **1** | 2 |\n\na note")
    assert page.count("<table>") == page.count("</table>") == 1
    assert "<th>a &lt;b&gt;</th>" in page
    assert "<td><b>1</b></td>" in page
    assert "<p>a note</p>" in page
