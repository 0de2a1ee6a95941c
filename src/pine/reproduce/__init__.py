"""The paper's tables and figures from this project's own runs: one data file each, one runner, one report."""
