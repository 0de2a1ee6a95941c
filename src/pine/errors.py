"""What a user gets to read when something they gave does not fit."""

import difflib

LONGEST_MESSAGE, LONGEST_VALUE = 300, 60  # characters


class InputError(ValueError):
    """Input that cannot be used: the message says what was wrong, where, and what to do, in 300 characters."""

    longest = LONGEST_MESSAGE

    def __init__(self, message: object = "") -> None:
        words = str(message).split()
        # Users need the whole path of a file; two of up to 120 characters come on top.
        paths = [len(word) for word in words if word.startswith("/") and len(word) <= 2 * LONGEST_VALUE][:2]
        super().__init__(shortened(" ".join(words), self.longest + sum(paths)))


def shortened(text: str, limit: int = LONGEST_VALUE) -> str:
    """Text whose middle is left out where it is longer."""
    if len(text) <= limit:
        return text
    tail = (limit - 5) // 3
    return f"{text[: limit - 5 - tail]} ... {text[-tail:]}"


class MissingDataError(InputError):
    """A data set that is not here, with all that is needed to get it: addresses and places are longer."""

    longest = 2000


class DeviceError(InputError):
    """A device that cannot be used now; another time it may be."""


def listed(values: object, limit: int = 5) -> str:
    """Join the first few values of an iterable for an error message: `'a', 'b', ... (7 in all)`."""
    items = list(values)  # type: ignore[call-overload]
    shown = ", ".join(shortened(repr(item)) for item in items[:limit])
    return shown if len(items) <= limit else f"{shown}, ... ({len(items)} in all)"


def did_you_mean(name: object, known: object, limit: int = 40) -> str:
    """What to offer for a name that does not exist: the nearest one, or all."""
    names = [str(each) for each in known]  # type: ignore[attr-defined]
    near = difflib.get_close_matches(str(name), names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"there are {listed(names, limit)}"


def one_of(what: str, value: object, allowed: object) -> None:
    """Raise unless value is among the allowed ones."""
    if value not in list(allowed):  # type: ignore[call-overload]
        raise InputError(f"{what} must be one of {listed(allowed, 20)}, got {value!r}")
