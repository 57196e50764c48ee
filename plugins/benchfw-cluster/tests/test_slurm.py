"""`benchfw run --slurm`: the script of a job, what is refused, and a run on jobs of a made-up SLURM."""

import builtins
import importlib.util
import sys

import pytest

from benchfw.errors import BenchfwError
from benchfw_cluster.slurm import SlurmJobs, read_jobs

pytestmark = [
    pytest.mark.workers,
    pytest.mark.skipif(
        importlib.util.find_spec("dask_jobqueue") is None,
        reason="dask-jobqueue is not installed; pip install 'benchfw-cluster[slurm]'",
    ),
]

JOBS = "2 cores=2 memory=2GB"
JOB = ("--slurm", JOBS)

# it runs the script at once, beside itself, and gives the process id for the number of the job
SBATCH = """#!/bin/sh
if [ "$1" = --test-only ]; then exit 0; fi
cp "$1" "job-$$.sh"
nohup sh "job-$$.sh" > "job-$$.log" 2>&1 &
echo "Submitted batch job $!"
"""
SCANCEL = """#!/bin/sh
echo "$1" >> cancelled
kill "$1"
"""


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Put a folder with commands of SLURM first on the path."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def install(name, text):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)

    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return install


def test_settings_are_numbers_texts_and_lists():
    jobs = read_jobs(
        "3 cores=32 walltime=08:00:00 memory='120 GB' job-extra-directives=--exclusive "
        """'job_script_prologue=source venv/bin/activate' 'job_script_prologue=["export A=1"]'"""
    )
    assert jobs.count == 3
    assert jobs.settings == {
        "cores": 32,
        "walltime": "08:00:00",
        "memory": "120 GB",
        "job_extra_directives": ["--exclusive"],
        "job_script_prologue": ["source venv/bin/activate", "export A=1"],
    }


def test_a_dry_run_prints_the_script_of_a_job_and_submits_none(cli):
    done = cli("run", "bowls.toml", "--slurm", f"{JOBS} queue=compute", "--dry-run")
    assert done.returncode == 0, done.stderr
    for line in ("#SBATCH -p compute", "#SBATCH --cpus-per-task=2", "#SBATCH --exclusive"):
        assert line in done.stdout.splitlines()
    assert f"{sys.executable} -m distributed.cli.dask_worker" in done.stdout
    assert "--nthreads 2" in done.stdout
    assert "would submit 2 such jobs for 8 trials" in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (JOB, "SLURM jobs need sbatch, which this machine does not have"),
        (("--slurm", 2), "SLURM must know what a job asks for, as in '8 cores=32 memory=120GB'"),
        (("--slurm", f"{JOBS} corse=2"), "SLURM's jobs have no setting 'corse'; did you mean 'cores'?"),
        (("--slurm", f"{JOBS} cores"), "a setting of SLURM's jobs is KEY=VALUE, as in cores=32, got 'cores'"),
        (("--slurm", f"{JOBS} cores=few"), "cores of a SLURM job must be a whole number from 1, got 'few'"),
        (("--slurm", f"{JOBS} memory=much"), "SLURM can have no job of these settings"),
        (("--slurm", "cores=2"), "SLURM takes a number of jobs and what each asks for, as in '8 cores=32"),
        (("--slurm", "0"), "SLURM takes a number of jobs and what each asks for, as in '8 cores=32"),
        (("--slurm", "2 'cores=2"), "SLURM takes a number of jobs and what each asks for, as in '8 cores=32"),
        ((*JOB, "--threads", 4), "a SLURM job has 2 cores and a trial asks for 4 threads"),
        ((*JOB, "--dask", "local"), "--executor, --dask and --slurm all say where trials run"),
        ((*JOB, "--jobs", 2), "--jobs is for this machine"),
    ],
)
def test_what_cannot_be_submitted_is_refused_in_one_sentence(cli, words, sentence):
    done = cli("run", "bowls.toml", *words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_what_slurm_refuses_is_said(slurm):
    slurm("sbatch", "#!/bin/sh\necho 'sbatch: error: invalid partition specified: x' >&2\nexit 1\n")
    jobs = SlurmJobs(1, {"cores": 2, "memory": "2GB"})
    with (
        pytest.raises(BenchfwError, match=r"SLURM refuses the job \(sbatch: error: invalid partition"),
        jobs.submit(print),
    ):
        pass


def test_without_dask_jobqueue_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def hidden(name, *arguments, **options):
        if name.startswith("dask_jobqueue"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", hidden)
    with pytest.raises(BenchfwError, match=r"pip install 'benchfw-cluster\[slurm\]'"):
        SlurmJobs(1).script()


@pytest.mark.thorough
def test_a_run_on_slurm_waits_for_its_jobs_and_cancels_them(slurm, cli):
    slurm("sbatch", SBATCH)
    slurm("scancel", SCANCEL)
    done = cli.in_process("run", "bowls.toml", "--no-report", "--slurm", f"{JOBS} death_timeout=60")
    assert done.returncode == 0, done.stderr
    assert "waiting for 2 SLURM jobs" in done.stderr
    assert "8 trials (8 done)" in done.stdout
    assert len((cli.folder / "cancelled").read_text().split()) == 2
