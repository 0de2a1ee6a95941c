"""What a user gets to read when something they gave does not fit."""

import difflib
import re

LONGEST_MESSAGE, LONGEST_VALUE = 300, 60  # characters
_LONG_QUOTES = re.compile(r"'[^']{60,}'|\"[^\"]{60,}\"")
_LONG_ASIDE = re.compile(r"\(.{60,}\)")  # what another library says


class InputError(ValueError):
    """Input that cannot be used: the message says what was wrong, where, and what to do, in 300 characters."""

    longest = LONGEST_MESSAGE

    def __init__(self, message: object = "") -> None:
        super().__init__(sentence(message, self.longest))


def sentence(text: object, limit: int = LONGEST_MESSAGE) -> str:
    """Text on one line, of at most so many characters, all of them printable, whatever a user's words hold.

    Where it is too long, what is quoted loses its middle, then what stands in parentheses, then long words such as
    paths, and only then the rest.
    """
    line = " ".join(printable(str(text)).split())
    if len(line) > limit:
        line = _LONG_QUOTES.sub(lambda quote: shortened(quote.group()), line)
    if len(line) > limit:
        line = _LONG_ASIDE.sub(lambda aside: shortened(aside.group()), line)
    words = line.split()
    for longest in (2 * LONGEST_VALUE, LONGEST_VALUE, 2 * LONGEST_VALUE // 3):
        if len(line) > limit:
            line = " ".join(shortened(word, longest) for word in words)
    return shortened(line, limit)


def printable(text: str) -> str:
    r"""Text with escapes such as \x1b for what could change what a terminal shows, or cannot be printed at all."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\t\n\r" else c.encode("unicode_escape").decode() for c in text)


def shortened(text: str, limit: int = LONGEST_VALUE) -> str:
    """Text whose middle is left out where it is longer."""
    if len(text) <= limit:
        return text
    tail = (limit - 5) // 3
    return f"{text[: limit - 5 - tail]} ... {text[-tail:]}"


def quoted(value: object) -> str:
    """A value of a user as Python writes it, in few characters."""
    try:
        return shortened(repr(value))
    except ValueError:  # Python writes out no integer of more than 4,300 digits
        return f"a very large {type(value).__name__}"


class MissingDataError(InputError):
    """A data set that is not here, with all that is needed to get it: addresses and places are longer."""

    longest = 2000


class DeviceError(InputError):
    """A device that cannot be used now; another time it may be."""


def listed(values: object, limit: int = 5) -> str:
    """Join the first few values of an iterable for an error message: `'a', 'b', ... (7 in all)`."""
    items = list(values)  # type: ignore[call-overload]
    shown = ", ".join(quoted(item) for item in items[:limit])
    return shown if len(items) <= limit else f"{shown}, ... ({len(items)} in all)"


def did_you_mean(name: object, known: object, limit: int = 40) -> str:
    """What to offer for a name that does not exist: the nearest one, or all."""
    names = [str(each) for each in known]  # type: ignore[attr-defined]
    near = difflib.get_close_matches(str(name), names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"there are {listed(names, limit)}"


def one_of(what: str, value: object, allowed: object) -> None:
    """Raise unless value is among the allowed ones."""
    if value not in list(allowed):  # type: ignore[call-overload]
        raise InputError(f"{what} must be one of {listed(allowed, 20)}, got {quoted(value)}")
