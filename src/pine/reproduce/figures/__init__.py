"""Figures of grids of scores: lines, rows and average ranks, each with a caption that says what is drawn."""

from pine.reproduce.figures.lines import lines_figure
from pine.reproduce.figures.picture import FIGURE_FORMATS, Picture, save_figure
from pine.reproduce.figures.rank_diagram import rank_figure
from pine.reproduce.figures.rows import panels_figure, rows_figure

__all__ = [
    "FIGURE_FORMATS",
    "Picture",
    "lines_figure",
    "panels_figure",
    "rank_figure",
    "rows_figure",
    "save_figure",
]
