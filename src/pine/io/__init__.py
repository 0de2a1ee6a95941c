"""Saved runs, and exports for other tools."""
