"""Files: saved runs, labels and features in, vectors out for other tools."""

from pine.io.exports import export_vectors, format_of
from pine.io.feature_files import read_feature_file
from pine.io.label_files import read_label_file
from pine.io.predictions import Predictions, write_predictions
from pine.io.runs import Run, read_run, write_run

__all__ = [
    "Predictions",
    "Run",
    "export_vectors",
    "format_of",
    "read_feature_file",
    "read_label_file",
    "read_run",
    "write_predictions",
    "write_run",
]
