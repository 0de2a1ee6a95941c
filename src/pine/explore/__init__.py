"""The page that shows an embedding: a map of the vectors, what each node is, what is near it, what is worth a look."""

from pine.explore.explored import Explored, explore_run
from pine.explore.html_file import html_of
from pine.explore.layout import LAYOUT_NAMES, LAYOUTS, check_layout, default_layout, lay_out, seconds_needed
from pine.explore.server import PageServer, open_server

__all__ = [
    "LAYOUTS",
    "LAYOUT_NAMES",
    "Explored",
    "PageServer",
    "check_layout",
    "default_layout",
    "explore_run",
    "html_of",
    "lay_out",
    "open_server",
    "seconds_needed",
]
