"""The paper's tables and figures from this project's own runs: one data file each, one runner, one report."""

from pine.reproduce.reproduction import ReproduceOptions, reproduce
from pine.reproduce.tasks import Machine
from pine.reproduce.workers import Limits

__all__ = ["Limits", "Machine", "ReproduceOptions", "reproduce"]
