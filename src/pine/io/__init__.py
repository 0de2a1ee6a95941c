"""Files: saved runs, labels and features in, vectors and predictions out for other tools."""

from pine.io.edge_times import read_edge_times
from pine.io.exports import export_vectors, format_of
from pine.io.feature_files import read_feature_file
from pine.io.graph_files import read_graph_files
from pine.io.kept_map import KeptMap, read_map, write_map
from pine.io.label_files import LabelTable, label_warnings, read_label_file, read_label_table
from pine.io.link_files import write_links
from pine.io.node_files import read_node_file
from pine.io.predictions import Predictions, write_predictions
from pine.io.runs import Run, read_run, write_run

__all__ = [
    "KeptMap",
    "LabelTable",
    "Predictions",
    "Run",
    "export_vectors",
    "format_of",
    "label_warnings",
    "read_edge_times",
    "read_feature_file",
    "read_graph_files",
    "read_label_file",
    "read_label_table",
    "read_map",
    "read_node_file",
    "read_run",
    "write_links",
    "write_map",
    "write_predictions",
    "write_run",
]
