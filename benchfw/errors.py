"""The errors that benchfw raises on purpose; the command line prints them without a traceback."""

from __future__ import annotations

from collections.abc import Iterable


class BenchfwError(Exception):
    """An error that the user can fix; its message says what is wrong, where, and what to do."""


class SuiteError(BenchfwError):
    """A suite file that cannot be read, or asks for something that does not exist."""


class PluginError(BenchfwError):
    """A plugin that cannot be loaded, or breaks the contract."""


class PluginNotFound(PluginError):
    """A plugin given by a module's name that nothing has."""


class Unavailable(BenchfwError):
    """Something that this machine does not have, such as an optional library; say what to install.

    A trial whose problem or method raises it is skipped, and the report gives the message as the reason.
    """


class BackendUnavailable(Unavailable):
    """A backend that this machine does not have; the message is the reason."""


class Untrue(BenchfwError):
    """What a trial recorded is known to be untrue; the message says what.

    Such a trial has failed, and its records count for nothing.
    """


class StoreError(BenchfwError):
    """A store that cannot be opened, read or written."""


class DataError(BenchfwError):
    """A data set that is not here, or is not what its name promises."""


MOST_NEIGHBOURS = 5


def nearest(name: str, legal: Iterable[str], otherwise: str | None = None) -> str:
    """Return "; did you mean 'x'?" for the closest legal name, else `otherwise`, or the legal names.

    Of many legal names, only the five nearest are listed; if some are the name with parameters, those.
    """
    import difflib  # only a mistake pays for it

    names = sorted(legal)
    swept = [each for each in names if each.startswith(f"{name} (")]
    close = swept or difflib.get_close_matches(name, names, n=1)
    if len(close) == 1:
        return f"; did you mean '{close[0]}'?"
    if swept:
        return f"; choose from: {list_neighbours(name, swept)}"
    if otherwise is not None:
        return otherwise
    return f"; choose from: {list_neighbours(name, names)}" if names else ""


def list_neighbours(name: str, legal: Iterable[str]) -> str:
    """Return 'a, b, c' if there are at most five names, else the five nearest and how many more there are."""
    import difflib

    names = sorted(legal)
    if len(names) <= MOST_NEIGHBOURS:
        return ", ".join(names)
    alike = {each: difflib.SequenceMatcher(None, name.lower(), each.lower()).ratio() for each in names}
    found = sorted(names, key=lambda each: -alike[each])[:MOST_NEIGHBOURS]
    return f"{', '.join(found)}, … ({len(names) - MOST_NEIGHBOURS} more)"
