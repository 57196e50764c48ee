"""Makes the bundles that the page of findings is built from: one of each suite that makes claims.

`python suites/tracked/bundles.py` runs the quick size of every such suite whose bundle is missing, stale or
of too few repetitions, and writes findings/cpu/FAMILY-SUITE.zip. A run that was interrupted goes on where it
stopped: its trials are in the store. `--backend cupy` runs on a GPU, into findings/gpu. `--gallery` runs the
suites that have no bundle in findings, into gallery/. Only benchfw-site and the suites' packages must be
installed; where git is not, `--commit` names the commit.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from time import monotonic

from benchfw.errors import BenchfwError
from benchfw.registry import Registry
from benchfw.store.bundle import read_bundle
from benchfw.suite import Suite, read_suite
from benchfw_site.findings import (
    Bundle,
    count_repetitions,
    describe_changes,
    has_all_claims,
    read_claiming_suites,
)

BAD_INPUT, INTERRUPTED = 2, 130
FEWEST_TO_COMPARE = 3  # repetitions: with fewer no method is called better


def main() -> int:
    """Make the bundles; 1 if some could not be made."""
    options = _read_options()
    paths = Registry(options.plugin).suites
    if options.gallery:
        suites = {name: read_suite(path) for name, path in paths.items() if _belongs_to_gallery(name)}
    else:
        claiming = read_claiming_suites(paths)
        suites = {
            name: suite
            for name, suite in claiming.items()
            if any(claim.test != "untestable" for claim in suite.claims)
        }
    chosen = {
        name: suite
        for name, suite in suites.items()
        if any(fnmatch(name, each) for each in options.only_suites or ["*"])
    }
    if not chosen:
        print("no such suite is called so")
        return BAD_INPUT
    options.folder.mkdir(parents=True, exist_ok=True)
    options.store.parent.mkdir(parents=True, exist_ok=True)
    made = [_make(name, suite, options) for name, suite in chosen.items()]
    sizes = sum(path.stat().st_size for path in options.folder.glob("*.zip"))
    print(f"{options.folder}: {sum(made)} of {len(made)} bundles, {sizes / 1e6:.2f} MB in all")
    return 0 if all(made) else 1


def _belongs_to_gallery(name: str) -> bool:
    """Whether a suite has no bundle in findings, and is not one that only looks for regressions."""
    found = any(Path("findings").glob(f"*/{name.replace('/', '-')}.zip"))
    return not found and not name.startswith("tracked/")


def is_current(path: Path, name: str, suite: Suite, *, quick: bool) -> bool:
    """Whether a bundle has a whole run of at least this size of a suite as it is now, with all its claims."""
    try:
        bundle = Bundle(path, *read_bundle(path))
        run = bundle.run
        same = not describe_changes(suite, run) and has_all_claims(suite, run)
    except BenchfwError as fault:
        print(f"{name}: {fault}")
        return False
    ran, asked = count_repetitions(suite, bundle)
    whole = ran >= asked and bool(run.finished)
    return same and whole and (quick or not run.environment.changes.quick)


def _make(name: str, suite: Suite, options: argparse.Namespace) -> bool:
    """Make the bundle of one suite, if it is not there; say how large it is, or why there is none."""
    path = options.folder / f"{name.replace('/', '-')}.zip"
    if path.exists() and not options.again and is_current(path, name, suite, quick=not options.full):
        print(f"{name}: there already")
        return True
    began = monotonic()
    words = ["run", name, "--no-report", "--jobs", str(options.jobs), *options.words]
    words += [] if options.full else ["--quick"]
    few = read_suite(Registry(options.plugin).suites[name], quick=True).repetitions < FEWEST_TO_COMPARE
    words += ["--repetitions", str(FEWEST_TO_COMPARE)] if options.gallery and few else []
    words += [word for backend in options.backend for word in ("--backend", backend)]
    words += [word for plugin in options.plugin for word in ("--plugin", plugin)]
    code, said = _call(words, options)
    if code in (BAD_INPUT, INTERRUPTED):
        print(f"{name}: not made: {said}", flush=True)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        return False
    exported, why = _call(["export", "last", "--bundle", str(path)], options)
    if exported:
        print(f"{name}: not made: {why}", flush=True)
        return False
    if read_bundle(path)[0].all_skipped:
        path.unlink()
        print(f"{name}: not made: {said}", flush=True)
        return False
    trouble = f"; exit code {code}: {said}" if code else ""
    print(f"{name}: {path.stat().st_size / 1e3:,.0f} kB in {monotonic() - began:.0f} s{trouble}", flush=True)
    return True


def _call(words: list[str], options: argparse.Namespace) -> tuple[int, str]:
    """Call benchfw; return its exit code and the last line that it wrote."""
    variables = {**os.environ, **({"BENCHFW_COMMIT": options.commit} if options.commit else {})}
    command = [sys.executable, "-m", "benchfw", *words, "--store", str(options.store)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    lines = f"{done.stdout}{done.stderr}".strip().splitlines()
    return done.returncode, lines[-1] if lines else "it says nothing"


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the full size instead of the quick one")
    parser.add_argument("--backend", action="append", default=[], help="instead of the suite's; repeatable")
    parser.add_argument("--plugin", action="append", default=[], help="not installed but here; repeatable")
    parser.add_argument("--gallery", action="store_true", help="of suites without a bundle in findings/")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only-suites", nargs="+", metavar="NAME", help="names or patterns: 'spectral/*'")
    parser.add_argument(
        "--folder", type=Path, help="[default: findings/cpu; with --backend findings/gpu; gallery]"
    )
    parser.add_argument("--store", type=Path, default=Path("reports/findings.sqlite"))
    parser.add_argument("--commit", help="where git cannot name it  [default: BENCHFW_COMMIT]")
    parser.add_argument("--again", action="store_true", help="also where there is a bundle of the suite")
    parser.add_argument("words", nargs="*", help="more options of `benchfw run`, after --")
    options = parser.parse_args()
    usual = Path("gallery") if options.gallery else Path("findings") / ("gpu" if options.backend else "cpu")
    options.folder = options.folder or usual
    return options


if __name__ == "__main__":
    sys.exit(main())
