"""Link-based classification."""

from pine.baselines.link_based.method import LinkBased

__all__ = ["LinkBased"]
