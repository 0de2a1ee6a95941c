"""Files: saved runs, labels in, vectors out for other tools."""

from pine.io.exports import export_vectors, format_of
from pine.io.label_files import read_label_file
from pine.io.runs import Run, read_run, write_run

__all__ = ["Run", "export_vectors", "format_of", "read_label_file", "read_run", "write_run"]
