"""`benchfw export --format NAME` writes and sends runs by the exporters of this package."""

import json

import pytest


@pytest.fixture
def ran(cli):
    assert cli("run", "bowls.toml", "--no-report", "--only", "slide").returncode == 0
    return cli


@pytest.mark.parametrize("form", ["bencher", "github-action-benchmark"])
def test_json_goes_to_standard_output_or_to_a_file(ran, form):
    printed = ran("export", "--format", form)
    assert json.loads(printed.stdout)
    assert ran("export", "--format", form, "--output", "estimates.json").stdout == ""
    assert (ran.folder / "estimates.json").read_text() == printed.stdout


def test_coco_writes_a_folder_and_says_what_is_in_it(ran):
    done = ran("export", "--format", "coco", "--output", "exdata")
    names = sorted(each.name for each in (ran.folder / "exdata").iterdir())
    assert names == ["slide-step-0.1--numpy", "slide-step-0.5--numpy"]
    assert all(name in done.stdout for name in names)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("coco",), "--format coco writes a folder; name it, as in --output coco"),
        (("asv",), "--format asv writes a folder; name it, as in --output asv"),
        (("wandb", "--output", "x"), "--format wandb sends the run and writes no file; leave out --output"),
        (("bencher", "--output", "."), ". is a folder; name a file, as in --output run-1.json"),
        (("bencher", "--summary"), "--format bencher has a content of its own; leave out --summary"),
        (("benchr",), "unknown format 'benchr'; did you mean 'bencher'?"),
        (("teapot",), "unknown format 'teapot'; choose from: csv, json, parquet, asv, bencher, coco, "),
    ],
)
def test_what_cannot_be_exported_is_refused_in_one_sentence(ran, words, sentence):
    done = ran("export", "--format", *words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"benchfw: {sentence}")
    assert len(done.stderr.splitlines()) == 1
