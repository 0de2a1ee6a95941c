"""The paper's tables and figures from this project's own runs: one data file each, one runner, one report."""

from pine._internal.workers import Limits
from pine.reproduce.reproduction import ReproduceOptions, reproduce
from pine.reproduce.tasks import Machine

__all__ = ["Limits", "Machine", "ReproduceOptions", "reproduce"]
