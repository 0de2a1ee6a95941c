"""The page of all experiments."""

from __future__ import annotations

import re

from matplotlib.figure import Figure
from support.reproduce import SMALL

from pine.reproduce.catalog import experiment_of
from pine.reproduce.claims import Verdict
from pine.reproduce.experiment import Claim
from pine.reproduce.figures import Picture
from pine.reproduce.figures.picture import DPI
from pine.reproduce.report import STYLE, Section, as_html, write_report


def test_tables_become_html_without_a_way_in_for_markup():
    page = as_html("**cora**\n\n| a <b> | c |\n|---|---|\n| **1** | 2 |\n\na note")
    assert page.count("<table>") == page.count("</table>") == 1
    assert "<th>a &lt;b&gt;</th>" in page
    assert "<td><b>1</b></td>" in page
    assert "<p>a note</p>" in page


def verdict(rule=""):
    return Verdict(Claim("It rises.", "here", "rises"), 1, 2, False, "A 1 to 2", rule=rule)


def written(tmp_path, *verdicts):
    Figure(figsize=(3, 2)).savefig(tmp_path / "a.png", dpi=DPI)
    pictures = [Picture(tmp_path / "a.png", 'Accuracy of A & "B"')]
    sections = [Section(experiment_of("small", SMALL), "| a |\n|---|\n| 1 |", pictures, verdicts)]
    write_report(sections, ["a fact"], tmp_path / "report.html")
    return (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_verdict_states_the_rule_by_which_it_was_decided(tmp_path):
    assert "Counted as held: the mean rises." in written(tmp_path, verdict("the mean rises"))
    assert "Counted as held" not in written(tmp_path, verdict())


def test_pictures_have_a_text_and_tables_a_box_to_scroll_in(tmp_path):
    page = written(tmp_path, verdict())
    assert "--inches: 3.0" in page
    assert "alt='Accuracy of A &amp; &quot;B&quot;'" in page
    assert page.count("<div class='scroll'") == page.count("<table") == page.count("</table></div>") == 2


def test_a_claim_leads_to_its_experiment_and_has_the_command_where_nothing_was_measured(tmp_path):
    page = written(tmp_path, verdict(), Verdict(Claim("It falls.", "here", "rises"), 0, 0, False, "0 of 0"))
    assert page.count("<a href='#small'>small</a>") == 2
    assert "<span class='small'>not measured</span>" in page
    assert page.count("<code>pine reproduce small</code>") == 1
    assert "0 of 0" not in page


def test_how_significance_is_decided_is_said_where_there_is_any(tmp_path):
    tested = Verdict(Claim("It rises.", "here", "rises"), 2, 2, True, "1 to 2", significant=1)
    assert "Holm's correction" in written(tmp_path, tested)
    assert "Holm" not in written(tmp_path, verdict())


def test_what_the_paper_has_comes_first_in_its_order(tmp_path):
    places = {"ours": "Not in the paper", "later": "Section 4.2", "first": "Section 3.2"}
    made = [Section(experiment_of(name, SMALL | {"place": place}), "", [], []) for name, place in places.items()]
    write_report(made, [], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert re.findall(r"<h2 id='(\w+)'", page) == ["first", "later", "ours"]


def luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_text_has_enough_contrast_in_light_and_in_dark():
    light, dark = (dict(re.findall(r"--(\w+): (#\w{6})", part)) for part in STYLE.split("@media")[:2])
    for colors in (light, dark):
        page = luminance(colors["page"])
        for name in ("text", "soft", "yes", "no"):
            low, high = sorted((page, luminance(colors[name])))
            assert (high + 0.05) / (low + 0.05) > 4.5, name  # WCAG 2, level AA
