"""What a user gets to read when something they gave does not fit."""

LONGEST_MESSAGE, LONGEST_VALUE = 300, 60  # characters


class InputError(ValueError):
    """Input that cannot be used: the message says what was wrong, where, and what to do, in 300 characters."""

    def __init__(self, message: object = "") -> None:
        words = str(message).split()
        # Users need the whole path of a file; two of up to 120 characters come on top.
        paths = [len(word) for word in words if word.startswith("/") and len(word) <= 2 * LONGEST_VALUE][:2]
        super().__init__(shortened(" ".join(words), LONGEST_MESSAGE + sum(paths)))


def shortened(text: str, limit: int = LONGEST_VALUE) -> str:
    """Text whose middle is left out where it is longer."""
    if len(text) <= limit:
        return text
    tail = (limit - 5) // 3
    return f"{text[: limit - 5 - tail]} ... {text[-tail:]}"


class DeviceError(InputError):
    """A device that cannot be used now; another time it may be."""


def listed(values: object, limit: int = 5) -> str:
    """Join the first few values of an iterable for an error message: `'a', 'b', ... (7 in all)`."""
    items = list(values)  # type: ignore[call-overload]
    shown = ", ".join(shortened(repr(item)) for item in items[:limit])
    return shown if len(items) <= limit else f"{shown}, ... ({len(items)} in all)"


def one_of(what: str, value: object, allowed: object) -> None:
    """Raise unless value is among the allowed ones."""
    if value not in list(allowed):  # type: ignore[call-overload]
        raise InputError(f"{what} must be one of {listed(allowed, 20)}, got {value!r}")
