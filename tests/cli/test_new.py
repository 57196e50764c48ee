"""`benchfw new`: what it writes runs at once and passes its own checks; nothing is overwritten."""

import errno
import json
import os
import re
import shlex
import subprocess
import sysconfig
import tomllib
import venv
from pathlib import Path
from unittest import mock

import pytest

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "benchfw-example-sag"

KINDS = {
    "optimizer": "[[problem]]\nuse = 'bowl'\n[[optimizer]]\nuse = 'my-first'\n",
    "estimator": "[[problem]]\nuse = 'least-squares'\nsamples = 30\n[[estimator]]\nuse = 'my-first'\n",
    "problem": "[[problem]]\nuse = 'my-first'\n[[optimizer]]\nuse = 'slide'\n",
    "kernel": "[[kernel]]\nuse = 'my-first'\nsize = 100\n",
    "backend": "backends = ['numpy', 'my-first']\n[[problem]]\nuse = 'bowl'\n[[optimizer]]\nuse = 'slide'\n",
}


@pytest.mark.parametrize(
    "kind",
    [
        "optimizer",
        pytest.param("estimator", marks=pytest.mark.families),
        "problem",
        "kernel",
        "distribution",
        "backend",
    ],
)
@pytest.mark.sampled(1)
def test_a_new_plugin_passes_its_checks_and_runs_at_once(cli, kind):
    assert cli("new", kind, "my-first").returncode == 0
    checked = cli("check", "my_first.py", "--seconds", "0.1")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    if kind in KINDS:
        cli.write("mine.toml", f"repetitions = 1\nbudget = {{ iterations = 5 }}\n{KINDS[kind]}")
        done = cli("run", "mine.toml", "--plugin", "my_first.py", "--plugin", "bowls.py", "--no-report")
        assert done.returncode == 0, done.stderr


def test_a_new_data_set_and_a_new_figure_do_at_once_what_the_hint_says(cli):
    hint = cli("new", "dataset", "my-rows").stdout.splitlines()[-1]
    shown = cli(*shlex.split(hint.removeprefix("next: benchfw ")))
    assert shown.returncode == 0
    assert "name: my-rows" in shown.stdout
    assert cli("new", "figure", "my-times").stdout.endswith(
        "next: benchfw run quickstart --plugin my_times.py\n"
    )
    cli.write(
        "mine.toml",
        f"repetitions = 5\nbudget = {{ iterations = 5 }}\n{KINDS['problem']}".replace("my-first", "bowl"),
    )
    done = cli("run", "mine.toml", "--plugin", "my_times.py", "--plugin", "bowls.py")
    assert done.returncode == 0, done.stderr
    assert "Time to the target" in (cli.folder / "reports" / "run-1" / "index.html").read_text(
        encoding="utf-8"
    )


def test_a_new_exporter_writes_a_run_at_once(cli):
    assert cli("run", "bowls.toml", "--no-report", "--only", "slide (step=0.5)").returncode == 0
    hint = cli("new", "exporter", "my-lines").stdout.splitlines()[-1]
    done = cli(*shlex.split(hint.removeprefix("next: benchfw ")))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("slide (step=0.5)\tbowl\tgap\t")


@pytest.mark.workers
def test_a_new_executor_runs_a_suite_at_once(cli):
    hint = cli("new", "executor", "my-machines").stdout.splitlines()[-1]
    assert hint == "next: benchfw run quickstart --executor my-machines:2 --plugin my_machines.py"
    words = ("bowls.toml", "--executor", "my-machines:2", "--plugin", "my_machines.py", "--no-report")
    done = cli("run", *words, "--only", "slide")
    assert done.returncode == 0, done.stderr
    assert "benchfw: 2 workers of my-machines" in done.stderr
    assert "4 trials (4 done)" in done.stdout


@pytest.mark.families
def test_a_name_of_a_family_is_taken(cli):
    done = cli("new", "package", "benchfw-gd")
    assert done.returncode == 2
    assert "optimizer 'gd' of benchfw-firstorder" in done.stderr


def test_nothing_is_overwritten(cli):
    cli.write("mine.py", "precious = True\n")
    done = cli("new", "optimizer", "mine")
    assert done.returncode == 2
    assert "already exists" in done.stderr
    assert (cli.folder / "mine.py").read_text() == "precious = True\n"
    (cli.folder / "benchfw-mine").mkdir()
    assert cli("new", "package", "benchfw-mine").returncode == 2


@pytest.mark.families
def test_a_new_suite_is_a_copy_of_quickstart_that_runs(cli):
    assert cli("new", "suite", "mine").returncode == 0
    assert cli("run", "mine.toml", "--dry-run").returncode == 0


@pytest.fixture
def environment(tmp_path):
    """Return a function that runs words in an environment of its own, which sees this one's packages."""
    folder = tmp_path / "environment"
    venv.create(folder, with_pip=False)
    (packages,) = folder.glob("lib/python*/site-packages")
    sources = [ROOT, *sorted((ROOT / "plugins").iterdir())]
    theirs = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})"
    (packages / "others.pth").write_text("\n".join([*map(str, sources), theirs, ""]))
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*words, cwd):
        return subprocess.run(
            [folder / "bin" / "python", *map(str, words)],
            cwd=cwd,
            env=variables,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


def install(environment, project):
    done = environment(
        "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-build-isolation", project, cwd=project
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.thorough
def test_a_new_package_installs_passes_its_tests_and_is_found_by_name(cli, environment):
    assert cli("new", "package", "benchfw-brandnew").returncode == 0
    project = cli.folder / "benchfw-brandnew"
    install(environment, project)
    tested = environment("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", cwd=project)
    assert tested.returncode == 0, tested.stdout
    done = environment("-m", "benchfw", "run", "brandnew", "--no-report", cwd=cli.folder)
    assert done.returncode == 0, done.stderr
    verdict = " ".join(done.stdout.split())
    assert re.search(
        r"needs [\d.]+ \[.+?\] times fewer gradients than gradient descent to reach gap 10⁻⁶", verdict
    )
    told = re.search("`(benchfw check .+)`", (project / "benchfw_brandnew" / "optimizer.py").read_text())
    checked = environment("-m", *shlex.split(told[1]), "--only", "defaults", cwd=project)
    assert checked.returncode == 0, checked.stderr
    timed = "from benchmarks.steps import Steps; it = Steps(); it.setup(); it.time_hundred_steps()"
    assert environment("-c", timed, cwd=project / "benchmarks").returncode == 0
    assert json.loads((project / "benchmarks" / "asv.conf.json").read_text())["project"] == "benchfw-brandnew"


def test_what_to_do_with_a_new_package_is_a_command_a_line(cli):
    (cli.folder / "my projects").mkdir()
    done = cli("new", "package", "benchfw-brandnew", "--into", "my projects")
    lines = done.stdout.split("next:\n")[1].splitlines()
    assert [shlex.split(line) for line in lines] == [
        ["cd", "my projects/benchfw-brandnew"],
        ["pip", "install", "--editable", ".[test]"],
        ["benchfw", "check", "."],
        ["pytest"],
    ]


def test_the_commands_of_a_new_packages_readme_come_with_what_it_installs(cli):
    cli("new", "package", "benchfw-brandnew")
    project = cli.folder / "benchfw-brandnew"
    extras = tomllib.loads((project / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    there = {"pip", "cd", "benchfw"}
    for line in re.findall(r"^\$ (.+)", (project / "README.md").read_text(), re.MULTILINE):
        words = shlex.split(line, comments=True)
        assert words[0] in there, line
        if words[0] == "pip":
            there |= {re.match(r"[\w-]+", each)[0] for each in extras[words[-1].strip(".[]")]}
    assert "asv" in there


def test_a_second_file_of_a_package_is_checked_once_its_hook_is_called(cli):
    cli("new", "package", "benchfw-brandnew")
    package = Path("benchfw-brandnew", "benchfw_brandnew")
    done = cli("new", "optimizer", "second", "--into", package)
    assert f"register_optimizers in {package}/__init__.py" in done.stdout
    check = ("check", "benchfw-brandnew", "--only", "defaults")
    assert cli(*check).stdout.startswith("found 2: problem brandnew-problem, optimizer brandnew\n")
    module = cli.folder / package / "__init__.py"
    text = module.read_text().replace("import optimizer, problem", "import optimizer, problem, second")
    call = "    optimizer.register_optimizers(register)\n"
    module.write_text(text.replace(call, call + call.replace("optimizer.", "second.")))
    assert cli(*check).stdout.startswith(
        "found 3: problem brandnew-problem, optimizer brandnew, optimizer second\n"
    )


@pytest.mark.thorough
def test_the_worked_example_installs_and_keeps_its_promises(environment, tmp_path):
    install(environment, EXAMPLE)
    checked = environment("-m", "benchfw", "check", "example-sag", "--seconds", "0.2", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    done = environment(
        "-m", "benchfw", "run", "example-sag", "--quick", "--no-report", "--only", "step=0.02", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr


def test_a_full_disk_is_one_sentence_with_the_file(cli, monkeypatch):
    full = OSError(errno.ENOSPC, "No space left on device")  # names no file
    monkeypatch.setattr(Path, "write_text", mock.Mock(side_effect=full))
    done = cli("new", "optimizer", "mine")
    assert done.returncode == 2
    assert done.stderr.startswith("benchfw: mine.py cannot be written (No space left on device); use")


def test_the_worked_example_is_what_benchfw_new_writes_but_for_its_method(cli):
    assert cli("new", "package", EXAMPLE.name).returncode == 0
    own = {"README.md", "benchfw_example_sag/optimizer.py", "benchfw_example_sag/suites/example-sag.toml"}
    written = {
        path.relative_to(cli.folder / EXAMPLE.name).as_posix(): path.read_text()
        for path in (cli.folder / EXAMPLE.name).rglob("*")
        if path.is_file()
    }
    for name in written.keys() - own:
        assert (EXAMPLE / name).read_text() == written[name], name
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", EXAMPLE],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if tracked.returncode == 0:
        files = {
            Path(line).relative_to(EXAMPLE.relative_to(ROOT)).as_posix() for line in tracked.stdout.split()
        }
        assert files == written.keys()
