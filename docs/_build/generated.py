"""Write into the pages of the manual what they say of code: `make reference`.

A page asks for it by a comment of its own line, `<!-- made: options run -->`: one of the functions of MAKERS with
its arguments. What it returns is written between that line and `<!-- end -->`, so that the repository shows it, and
every program that builds manuals has it.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import importlib
import inspect
import io
import itertools
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import click

from benchfw.cli import VERBS, cli
from benchfw.cli.verbs.show import describe_facts, facts_of
from benchfw.contract import OptionalOfMethod, OptionalOfPlugin, OptionalOfProblem
from benchfw.kernels import Kernel
from benchfw.parameters import is_protocol, meanings_of
from benchfw.registry import Registry

OPTIONAL = (OptionalOfProblem, OptionalOfMethod, OptionalOfPlugin)
DOCS = Path(__file__).parents[1]
END = "<!-- end -->"
MARK = re.compile(
    rf"^(<!-- made: (\w+) ?([^\n]*?) -->)$(?:(?:(?!^<!-- made).)*?^{END}$)?", re.MULTILINE | re.DOTALL
)


def write_pages() -> None:
    """Bring every page up to date."""
    for path in sorted(DOCS.rglob("*.md")):
        before = path.read_text(encoding="utf-8")
        after = fill_marks(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"written: docs/{path.relative_to(DOCS).as_posix()}")


def find_stale() -> list[str]:
    """Return the names of pages that say something else of the code than it says itself."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
    return [path.name for path, text in texts.items() if fill_marks(text) != text]


def fill_marks(text: str) -> str:
    """Return a page's text with what its marks ask for."""

    def fill(found: re.Match[str]) -> str:
        mark, maker, words = found.groups()
        if maker == "notebook" and shows_notebook(found[0], words):
            return found[0]
        return f"{mark}\n\n{MAKERS[maker](*words.split())}\n\n{END}"

    return MARK.sub(fill, text)


def optional() -> str:
    """Return every optional member of the contract."""
    parts = ((prose(inspect.getdoc(each) or ""), "\n".join(_members(each))) for each in OPTIONAL)
    return "\n\n".join(itertools.chain.from_iterable(parts))


def verbs() -> str:
    """Return a table of all verbs, those of our packages included."""
    context = click.Context(cli)
    known = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    texts = {name: VERBS.get(name) or _describe_added(command) for name, command in known.items()}
    rows = [f"| [`{verb}`]({verb}.md) | {text} |" for verb, text in texts.items()]
    return "\n".join(["| verb | |", "|---|---|", *rows])


def _describe_added(command: Any) -> str:
    package = command.callback.__module__.partition(".")[0].replace("_", "-")
    return f"{command.get_short_help_str(100)} In `{package}`."


def options(*path: str) -> str:
    """Return how a verb is called, and a table of its options; those of its own verbs, if it has any."""
    context = click.Context(cli, info_name="benchfw")
    command: Any = cli
    for word in path:
        command = command.get_command(context, word)
        context = click.Context(command, info_name=word, parent=context)
    if isinstance(command, click.Group):
        return "\n\n".join(f"### {name}\n\n{options(*path, name)}" for name in command.commands)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    records = [each.get_help_record(context) for each in command.params if isinstance(each, click.Option)]
    lines = [f"| `{names}` | {' '.join(text.split())} |" for names, text in filter(None, records)]
    table = ["", "| option | |", "|---|---|", *lines] if lines else []
    return "\n".join(["```text", usage, "```", *table])


def entries(kind: str) -> str:
    """Return everything that the installed plugins register of one kind, as `benchfw show` tells it."""
    found = Registry().entries(kind)
    return "\n\n".join(f"## {name}\n\n```text\n{describe_facts(facts_of(each))}\n```" for name, each in found.items())


def names(module: str) -> str:
    """Return the public names of a module with their signatures and docstrings; none may lack one.

    Kernels are left out: they are registered, and `entries` has them.
    """
    home = importlib.import_module(module)
    found = {name: getattr(home, name) for name in home.__all__}
    return "\n\n".join(
        part
        for name, value in found.items()
        if not isinstance(value, Kernel)
        for part in (f"### {name}", *_documented(name, value))
    )


def _documented(name: str, value: Any) -> Iterator[str]:
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        yield prose(_required(name, _below(name, value)))
        return
    yield f"```python\n{name}{_signature(value)}\n```"
    yield prose(_required(name, inspect.getdoc(value)))
    if inspect.isclass(value) and not issubclass(value, Exception):
        yield "\n".join(_members(value))


def _below(name: str, value: Any) -> str | None:
    """Return the string below an assignment, which is how a value without a docstring is documented."""
    homes = [each for key, each in sys.modules.items() if key.partition(".")[0] == "benchfw"]
    for home in homes:
        if vars(home).get(name) is value:
            for statement, below in itertools.pairwise(ast.parse(inspect.getsource(home)).body):
                match statement, below:
                    case (
                        ast.Assign(targets=[ast.Name(id=found)]) | ast.AnnAssign(target=ast.Name(id=found)),
                        ast.Expr(value=ast.Constant(value=str(text))),
                    ) if found == name:
                        return text
    return None


def _members(owner: type) -> Iterator[str]:
    if issubclass(owner, Enum):
        yield from (f"- `{each.name} = {each.value!r}`" for each in owner)
    elif not (is_dataclass(owner) or issubclass(owner, tuple)):  # else they stand in the signature
        meanings = meanings_of(owner)
        for name, kind in vars(owner).get("__annotations__", {}).items():
            yield f"- `{name}: {kind}`{': ' * (name in meanings)}{meanings.get(name, '')}"
    if is_dataclass(owner):
        yield from (f"- `{name}`: {text}" for name, text in meanings_of(owner).items())
    for name, value in vars(owner).items():
        body = value.fget if isinstance(value, property) else value
        if not name.startswith("_") and inspect.isfunction(body):
            shown = name if isinstance(value, property) else f"{name}{_signature(value)}"
            yield f"- `{shown}`: {' '.join(_required(f'{owner.__name__}.{name}', body.__doc__).split())}"


def _required(name: str, text: str | None) -> str:
    if not text:
        raise ValueError(f"{name} is public and has no docstring")
    return text


def _signature(value: Any) -> str:
    """Return a signature as its author wrote it, as far as that is known."""
    if inspect.isclass(value) and (issubclass(value, Exception | Enum) or is_protocol(value)):
        return ""
    found = inspect.signature(value)
    parameters = [
        each.replace(annotation=_annotation(each.annotation), default=_default(each.default))
        for each in found.parameters.values()
        if each.name != "self"
    ]
    return str(found.replace(parameters=parameters, return_annotation=_annotation(found.return_annotation)))


class _Bare(str):
    """A text that shows without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _annotation(value: Any) -> Any:
    value = getattr(value, "__forward_arg__", value)
    return _Bare(value) if isinstance(value, str) else value


def _default(value: Any) -> Any:
    if value is inspect.Parameter.empty:
        return value
    if isinstance(value, type):
        return _Bare(value.__name__)
    if isinstance(value, Path):
        return str(value)
    return _Bare("…") if repr(value) == "<factory>" else value  # what a dataclass makes anew


def prose(docstring: str) -> str:
    """Return a docstring as Markdown: what is indented after :: is code."""
    code = re.compile(r"(?:^:|(:)):\n\n((?:    .*\n|\n)+)", re.MULTILINE)
    return code.sub(_block, docstring + "\n").strip()


def _block(found: re.Match[str]) -> str:
    return f"{found[1] or ''}\n\n```python\n{inspect.cleandoc(found[2])}\n```\n\n"


def shows_notebook(text: str, path: str) -> bool:
    """Return whether a page shows the cells as they are now.

    If so, what they gave is left alone: it has times, which no two runs share. Delete the cells from the page
    to run the notebook again.
    """
    cells = [re.escape(shown) for shown, _ in _cells(path)]
    return re.search("(?s)" + ".*".join(cells), text) is not None


def notebook(path: str) -> str:
    """Return a notebook with what its cells give, run now in an empty folder."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        parts = [f"{shown}\n\n{_run_cell(code, scope)}" if code else shown for shown, code in _cells(path)]
    return "\n\n".join(parts)


def _cells(path: str) -> Iterator[tuple[str, str]]:
    """Yield every cell of a notebook as a page shows it, with its code if it has some."""
    for cell in json.loads((DOCS.parent / path).read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            yield f"```python\n{text}\n```", text
        else:  # headings are one level lower: the page has a title
            yield re.sub(r"^#", "##", text, flags=re.MULTILINE), ""


def _run_cell(text: str, scope: dict[str, Any]) -> str:
    """Return what a cell prints and the value of its last expression, as a page shows them."""
    body = ast.parse(text).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), scope)  # noqa: S102 - our own notebook
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), scope)  # noqa: S307 - as above
    said = printed.getvalue().rstrip()
    shown = [f"```text\n{said}\n```"] if said else []
    return "\n\n".join([*shown, *([] if value is None else [_show_value(value)])])


def _show_value(value: Any) -> str:
    if hasattr(value, "savefig"):
        drawn = io.StringIO()
        value.savefig(drawn, format="svg", metadata={"Date": None})
        image = base64.b64encode(drawn.getvalue().encode()).decode()
        return f'<img class="cell" alt="The figures of the cell above" src="data:image/svg+xml;base64,{image}">'
    if hasattr(value, "_repr_html_"):
        inside = re.sub(r"\n\s*", " ", value._repr_html_())  # noqa: SLF001 - as a notebook does
        return f'<div class="cell">{inside}</div>'
    return f"```text\n{value!r}\n```"


MAKERS: dict[str, Callable[..., str]] = {
    "entries": entries,
    "names": names,
    "notebook": notebook,
    "optional": optional,
    "options": options,
    "verbs": verbs,
}


if __name__ == "__main__":
    write_pages()
