"""An object of a session is known by its code and data: what changes them changes its hash."""

import functools
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from fixtures.cells import Notebook

from benchfw.harness.workers.packing import pack_objects, unpack_objects
from benchfw.registry import Given
from benchfw.sources.objects import is_in_module, read_object

CELL = """
import math
from dataclasses import dataclass, field

STEP = 0.5
UNUSED = 1
DATA = [1.0, 2.0]


def helper(x):
    return x * STEP


def make(factor):
    def inner(x, power=2, *, shift={"a", "b", "c"}):
        return factor * helper(x) ** power if x in {"p", "q", "r"} else math.sqrt(x)

    return inner


@dataclass(frozen=True)
class Method:
    '''Text.'''

    step: float = 0.1
    more: list = field(default_factory=list)

    @property
    def twice(self):
        return 2 * self.step

    def run(self, problem, rng):
        # a comment
        yield helper(self.step)


made, method, doubled = make(3), Method(0.2), lambda x: 2 * x
"""


def digests(cell=CELL):
    notebook = Notebook()(cell)
    return {name: read_object(notebook[name]).digest for name in ("made", "method", "doubled", "Method")}


def test_the_same_cell_gives_the_same_hashes_in_any_process():
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r}); "
    code += "from sources.test_objects import digests; "
    code += "print(sorted(digests().items()))"
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2)
    }
    assert printed == {f"{sorted(digests().items())}\n"}


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("# a comment", "# another", ""),
        ("import math\n", "import math\n\n\n\n", ""),
        ("'''Text.'''", "'''Other text.'''", ""),
        ("UNUSED = 1", "UNUSED = 2", ""),
        ("STEP = 0.5", "STEP = 0.25", "made method Method"),
        ("return x * STEP", "return x / STEP", "made method Method"),
        ("power=2", "power=3", "made"),
        ('"a", "b", "c"', '"a", "b", "d"', "made"),
        ('"p", "q", "r"', '"p", "q", "s"', "made"),
        ("make(3)", "make(4)", "made"),
        ("math.sqrt", "math.exp", "made"),
        ("Method(0.2)", "Method(0.3)", "method"),
        ("step: float = 0.1", "step: float = 0.4", "method Method"),
        ("2 * self.step", "3 * self.step", "method Method"),
        ("yield helper", "yield 1 + helper", "method Method"),
        ("2 * x", "x * 2", "doubled"),
    ],
)
def test_a_hash_changes_with_what_the_object_does_and_only_then(before, after, changed):
    assert before in CELL
    old, new = digests(), digests(CELL.replace(before, after))
    assert {name for name in old if old[name] != new[name]} == set(changed.split())


def test_a_class_that_was_run_again_is_another_one_only_if_it_was_edited():
    notebook = Notebook()(CELL)
    first = read_object(notebook["Method"]).digest
    assert read_object(notebook(CELL)["Method"]).digest == first
    assert read_object(notebook(CELL.replace("yield helper", "yield"))["Method"]).digest != first


def test_data_are_known_by_their_content():
    array = np.arange(6.0)
    same, other = read_object(array.copy()), read_object(array + 1)
    assert read_object(array).digest == same.digest != other.digest
    assert read_object(array.reshape(2, 3)).digest != same.digest
    assert read_object({"a": [array, 1]}).digest == read_object({"a": [array.copy(), 1]}).digest
    assert read_object(1).digest != read_object(1.0).digest != read_object(True).digest
    assert read_object(array[::2]).digest == read_object(array[::2].copy()).digest
    assert read_object(np.random.default_rng(1)).digest != read_object(np.random.default_rng(2)).digest


ARRAYS = "import numpy as np\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"class T({base}): pass\nx = T({items})\nx.step = 1", "x.step = 2")
        for base, items in {"dict": "a=1", "list": "[1]", "tuple": "(1,)", "set": "", "int": "1"}.items()
    ]
    + [
        ("class T(set):\n    def step(self): return 1\nx = T()", "T.step = lambda self: 2"),
        ("class T(dict):\n    def step(self): return 1\nx = T()", "T.step = lambda self: 2"),
        (
            "import collections\nx = collections.defaultdict(lambda: 1)",
            "x = collections.defaultdict(lambda: 2)",
        ),
        ("import collections\nclass C(collections.Counter):\n    k = 1\nx = C()", "C.k = 2"),
        ("names = {}\nexec('class A:\\n step = 1', names)\nx = names['A']", "x.step = 2"),
        ("names = {}\nexec('class A:\\n step = 1', names)\nx = names['A']()", "type(x).step = 2"),
        (ARRAYS + "x = np.eye(3)", "x = x.view(np.matrix)"),
        (ARRAYS + "x = np.ones((3, 2))", "x = np.asfortranarray(x)"),
        (
            ARRAYS + "x = np.zeros(1, [('a', float), ('b', float)])",
            "x = x.astype([('b', float), ('a', float)])",
        ),
        (ARRAYS + "x = np.ma.MaskedArray([1.0, 2.0], mask=[0, 0])", "x.mask[:] = [0, 1]"),
        (
            ARRAYS + "class D(np.ndarray):\n    step = 1\nx = np.ones(2).view(D)",
            "class D(np.ndarray):\n    step = 2\nx = np.ones(2).view(D)",
        ),
        ("def x(): pass\nx.a, x.b = 1, 2", "del x.a, x.b\nx.b, x.a = 1, 2"),
        (
            "from dataclasses import *\n@dataclass\nclass x:\n    a: int = field(metadata={'k': 1})",
            "@dataclass\nclass x:\n    a: int = field(metadata={'k': 2})",
        ),
        (
            "class x:\n    a: 1\n    def run(self): return self.__annotations__",
            "class x:\n    a: 2\n    def run(self): return self.__annotations__",
        ),
        ("def x():\n    'a'\n    return x.__doc__", "def x():\n    'b'\n    return x.__doc__"),
        ("def x():\n    'a'\n    return 'a'", "def x():\n    'b'\n    return 'b'"),
    ],
)
def test_a_hash_changes_with_the_class_the_attributes_and_the_notes_that_code_can_see(before, after):
    notebook = Notebook()(before)
    first = read_object(notebook["x"])
    assert first.seen
    assert read_object(notebook["x"]) == first
    assert read_object(notebook(after)["x"]).digest != first.digest


def test_what_pickling_adds_to_a_class_and_a_docstring_do_not_count():
    notebook = Notebook()(
        "import collections\nNT = collections.namedtuple('NT', 'a b')\nx = NT(1, 2)\ndef f(): yield"
    )
    first, plain = read_object(notebook["x"]), read_object(notebook["f"])
    pack_objects([Given("optimizer", "object:x", notebook["x"], "")])
    assert read_object(notebook["x"]) == first
    assert read_object(notebook("def f():\n    'Text.'\n    yield")["f"]) == plain


def test_modules_inside_of_a_package_are_known_by_the_names_in_the_code(tmp_path, monkeypatch):
    package = tmp_path / "outerpackage"
    package.mkdir()
    for name in ("__init__", "inner", "unloaded", "other"):
        (package / f"{name}.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    notebook = Notebook()("""
        import outerpackage.inner, outerpackage.other
        def attribute(): return outerpackage.inner.step()
        def inside():
            def nested():
                from outerpackage import inner
                return inner.step()
            return nested()
        def later():
            from outerpackage import unloaded
            return unloaded.step()
    """)
    for name, module in {"attribute": "inner", "inside": "inner", "later": "unloaded"}.items():
        assert read_object(notebook[name]).modules == ("outerpackage", f"outerpackage.{module}"), name


def test_what_refers_to_itself_has_a_hash():
    loop = [1]
    loop.append(loop)
    other = [2]
    other.append(other)
    assert read_object(loop).digest != read_object(other).digest
    recursive = Notebook()("def f(n):\n    return 1 if n < 2 else n * f(n - 1)")["f"]
    assert read_object(recursive).seen


@dataclass(frozen=True)
class InAFile:
    step: float = 0.1


def test_code_of_a_module_is_known_by_the_module_and_that_of_a_library_by_its_name():
    assert is_in_module(InAFile)
    assert __name__ in read_object(InAFile(0.2)).modules
    assert read_object(InAFile(0.2)).digest != read_object(InAFile(0.3)).digest
    notebook = Notebook()(
        "import numpy as np\ndef f(x):\n    from scipy.optimize import minimize\n    return np.abs(x)"
    )
    assert {"numpy", "scipy.optimize"} <= set(read_object(notebook["f"]).modules)
    assert (
        read_object(functools.partial(np.add, 1)).digest != read_object(functools.partial(np.add, 2)).digest
    )


CACHES = """
import functools


class Cached:
    @functools.cached_property
    def big(self):
        return 3


@functools.lru_cache(maxsize=2)
def remembered(x):
    return x + 3


def uses(x):
    return remembered(x) + Cached().big
"""


def test_caches_are_known_by_what_they_keep_and_travel():
    notebook, edited = Notebook()(CACHES), Notebook()(CACHES.replace("return x + 3", "return x + 4"))
    first = read_object(notebook["uses"])
    notebook["uses"](1)
    assert read_object(notebook["uses"]) == first
    assert read_object(edited["uses"]).digest != first.digest
    given = Given("optimizer", "object:uses", notebook["uses"], first.digest)
    (unpacked,) = unpack_objects(pack_objects([given]))
    assert unpacked.factory(1) == 7
    assert unpacked.factory is not notebook["uses"]


def test_what_cannot_be_seen_is_never_the_same_twice():
    lock = threading.Lock()
    first, second = read_object([lock]), read_object([lock])
    assert not first.seen
    assert first.digest != second.digest
