"""What a method logs."""

from __future__ import annotations


def needs(caplog):
    """The lines that say what a method needs."""
    return [message for message in caplog.messages if " needs " in message]
