"""Objects of a session on their way to a worker: packed by the parent, unpacked by its own workers alone."""

from __future__ import annotations

import functools
import io
import pickle
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchfw.errors import BenchfwError
from benchfw.registry import Given
from benchfw.sources.objects import is_in_module

LONGEST = (1 << 32) - (1 << 20)  # bytes that four bytes can count, with room for the rest of a setup


def pack_objects(objects: Sequence[Given]) -> bytes:
    """Return objects as a worker unpacks them: code of `__main__` by value, that of a module by its name."""
    if not objects:
        return b""
    import cloudpickle

    content, base = io.BytesIO(), cloudpickle.CloudPickler
    packer: Any = type("Packer", (base,), {"dispatch_table": ChainMap(_REDUCED, base.dispatch_table)})
    packer(content).dump(objects)
    if content.tell() > LONGEST:
        raise BenchfwError(
            f"{content.tell() / 1e9:.1f} GB of objects are too much to send to a worker; keep the data in a "
            "file that the function opens"
        )
    return content.getvalue()


def _cached_property(function: Callable[..., Any], name: str) -> Any:
    made: Any = functools.cached_property(function)
    made.__set_name__(None, name)
    return made


def _cached(function: Callable[..., Any], parameters: Mapping[str, Any]) -> Any:
    return functools.lru_cache(**parameters)(function)


_CACHED = type(functools.lru_cache(len))
_REDUCED = {
    functools.cached_property: lambda each: (_cached_property, (each.func, each.attrname)),
    _CACHED: lambda each: (
        each.__qualname__ if is_in_module(each) else (_cached, (each.__wrapped__, each.cache_parameters()))
    ),
}
"""How to pack what cloudpickle does not: the first has a lock before Python 3.12."""


def unpack_objects(packed: bytes) -> Sequence[Given]:
    """Return what `pack_objects` packed; only for what the parent sends."""
    return pickle.loads(packed) if packed else ()  # noqa: S301 - from the parent
