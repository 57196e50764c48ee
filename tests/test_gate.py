"""The gate of pull requests: one comment, only about what changed beyond noise; and the action as a whole."""

import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from benchfw import gate

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
LINES_A_SCREEN = 25


def row(verdict, method="gd", **changes):
    given = {"problem": "bowl", "method": method, "backend": "numpy", "quantity": "iterations_to_target"}
    numbers = {"before": 10.0, "after": 12.0, "ratio": 1.2, "low": 1.1, "high": 1.3, "sentence": ""}
    return {**given, **numbers, "verdict": verdict, **changes}


def comparison(*rows, not_compared=()):
    counts = {word: sum(each["verdict"] == word for each in rows) for word in ("regressed", "improved")}
    runs = [{"suite": "mine", "before": 1, "after": 2}]
    return {
        "revision": "0123456789abcdef", "runs": runs, "counts": counts, "rows": [*rows],
        "not_compared": [*not_compared],
    }  # fmt: skip


def test_nothing_is_said_of_what_is_within_noise():
    assert gate.describe_change(comparison(row("unchanged"), row("within noise"), not_compared=["new"])) == ""


def test_regressions_come_first_with_their_intervals():
    text = gate.describe_change(comparison(row("improved", "svrg"), row("regressed"), row("unchanged")))
    assert text.startswith("**benchfw: 1 regressed, 1 improved** in `mine` against `0123456789ab`")
    assert text.index("regressed | bowl | gd") < text.index("improved | bowl | svrg")
    assert "| 10.0 | 12.0 | ×1.20 [1.10, 1.30] |" in text
    assert "| gd | iterations to target |" in text
    assert text.endswith("Within noise: 1 other comparison.")


def test_trials_that_fail_now_are_named():
    found = comparison(not_compared=["no value in B (failed: ZeroDivisionError)"])
    assert "no value in B (failed: ZeroDivisionError)" in gate.describe_change(found, failed=True)


def test_a_comment_is_at_most_one_screen_however_much_changed():
    text = gate.describe_change(comparison(*[row("regressed", f"{n}-{'x' * 99}") for n in range(99)]))
    assert len(text.splitlines()) <= LINES_A_SCREEN
    assert "… and 87 more." in text
    assert max(map(len, text.splitlines())) < 300


def test_names_cannot_write_markdown_of_their_own():
    text = gate.describe_change(comparison(row("regressed", "<img src=x>|")))
    assert r"| \<img src=x\>\| |" in text


@pytest.fixture
def server():
    """A host of pull requests with the comments of one; it may refuse to take any."""
    comments, asked = [], []

    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            asked.append((self.command, self.path.partition("?")[0]))
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.command == "POST":
                comments.append({"id": len(comments) + 7, "body": json.loads(body)["body"]})
            elif self.command in {"PATCH", "PUT"}:
                comments[int(self.path.rpartition("/")[2]) - 7]["body"] = json.loads(body)["body"]
            refused = self.headers.get("Authorization") == "Bearer read-only" and self.command != "GET"
            self.send_response(403 if refused else 200)
            self.end_headers()
            self.wfile.write(json.dumps(comments).encode())

        do_GET = do_POST = do_PATCH = do_PUT = answer  # noqa: N815 - as http.server names them

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        found.comments, found.asked = comments, asked
        found.address = f"http://127.0.0.1:{found.server_port}"
        yield found
        found.shutdown()
        thread.join()


@pytest.fixture
def environment(server, tmp_path):
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 3}}))
    return {
        "GITHUB_API_URL": server.address,
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REPOSITORY": "owner/name",
        "BENCHFW_GATE_TOKEN": "secret",
    }


@pytest.fixture
def comment(environment, tmp_path, monkeypatch):
    """Return a function that writes the comment on a comparison."""
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "CI_"))]:
        monkeypatch.delenv(name)

    def write(found, **changes):
        for name, value in (environment | changes).items():
            monkeypatch.setenv(name, value)
        (tmp_path / "gate.json").write_text(json.dumps(found))
        return gate.main([str(tmp_path / "gate.json"), "--name", "mine"])

    return write


def test_a_quiet_pull_request_gets_no_comment(comment, server):
    assert comment(comparison(row("unchanged"))) == 0
    assert server.comments == []


def test_one_comment_is_edited_after_every_push(comment, server):
    server.comments.append({"id": 7, "body": "What a reviewer wrote"})
    comment(comparison(row("regressed")))
    comment(comparison(row("improved")))
    assert [each["body"].splitlines()[1][:20] for each in server.comments[1:]] == ["**benchfw: 1 improve"]
    comment(comparison(row("unchanged")))
    assert "no change beyond noise any more" in server.comments[1]["body"]
    assert len(server.comments) == 2
    assert {each[1] for each in server.asked} == {
        "/repos/owner/name/issues/3/comments",
        "/repos/owner/name/issues/comments/8",
    }


def test_a_token_that_may_not_write_does_not_fail_the_gate(comment, capsys):
    assert comment(comparison(row("regressed")), BENCHFW_GATE_TOKEN="read-only") == 0
    out, err = capsys.readouterr()
    assert "1 regressed" in out
    assert "the comment was not written: POST" in err
    assert "403" in err


def test_gitlab_has_the_same_comment(comment, server):
    request = {"CI_API_V4_URL": server.address, "CI_PROJECT_ID": "5", "CI_MERGE_REQUEST_IID": "9"}
    for verdict in ("regressed", "improved"):
        comment(comparison(row(verdict)), **request)
    assert "1 improved" in server.comments[0]["body"]
    assert server.asked[-1] == ("PUT", "/projects/5/merge_requests/9/notes/7")


def test_a_file_that_is_not_there_is_one_line(tmp_path, capsys):
    assert gate.main([str(tmp_path / "absent.json")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def evaluate(text, known):
    """Return a text with its expressions as GitHub would put them in: names, and `a == 'b' && c || d`."""

    def value(found):
        name, _, rest = found[1].strip().partition(" == ")
        if not rest:
            return known[name]
        wanted, yes, no = re.fullmatch(r"'(.*?)' && '(.*?)' \|\| '(.*?)'", rest).groups()
        return yes if known[name] == wanted else no

    return re.sub(r"\$\{\{(.*?)\}\}", value, text)


def run_action(folder, environment, inputs):
    """Run the steps of action.yml that are scripts, as a runner does; return the exit codes."""
    known = {f"inputs.{name}": value for name, value in inputs.items()}
    known |= {"steps.pages.outputs.artifact-url": "https://example.org/artifact"}
    output, codes = folder.parent / "output.txt", []
    given = {
        **environment,
        "GITHUB_OUTPUT": str(output),
        "GITHUB_STEP_SUMMARY": str(folder.parent / "summary.md"),
    }
    for step in ACTION["runs"]["steps"]:
        if "run" not in step or (
            step["name"] == "Fail on a regression" and known["steps.run.outputs.code"] == "0"
        ):
            continue
        own = {name: evaluate(text, known) for name, text in step.get("env", {}).items()}
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(words, cwd=folder, env=given | own, check=False, capture_output=True, text=True)
        codes.append(done.returncode)
        assert done.returncode == 0 or step["name"].startswith("Fail"), done.stderr
        for line in output.read_text().splitlines():
            known[f"steps.run.outputs.{line.partition('=')[0]}"] = line.partition("=")[2]
    return codes


@pytest.mark.thorough
def test_the_action_comments_on_a_slower_method_and_fails(environment, server, tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    toys = (ROOT / "tests" / "plugins" / "bowls.py").read_text(encoding="utf-8")
    (folder / "bowls.py").write_text(toys, encoding="utf-8")
    (folder / "bowls.toml").write_text(
        'seed = 3\nrepetitions = 5\nplugins = ["bowls.py"]\nbudget = { iterations = 200 }\n'
        'target = { gap = 1e-6 }\n[[problem]]\nuse = "bowl"\n[[optimizer]]\nuse = "slide"\n'
    )
    (folder / ".gitignore").write_text("reports/\n__pycache__/\n")
    who = {f"GIT_{a}_{b}": "test@example.org" for a in ("AUTHOR", "COMMITTER") for b in ("NAME", "EMAIL")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    given = {**os.environ, **who, **environment, "PATH": path}

    def git(*words):
        done = subprocess.run(
            ["git", *words], cwd=folder, env=given, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "base")
    base = git("rev-parse", "HEAD")
    assert toys.count("answer - self.step *") == 1
    (folder / "bowls.py").write_text(toys.replace("answer - self.step *", "answer - 0.7 * self.step *"))
    git("commit", "--quiet", "-am", "slower")
    inputs = {"suite": "bowls.toml", "base": base, "options": "", "token": "secret", "fail": "true"}
    assert run_action(folder, given, inputs)[-1] == 1
    (written,) = server.comments
    assert "| regressed | bowl | slide | iterations to target |" in written["body"]
    assert "https://example.org/artifact" in written["body"]
    assert (folder / "reports" / "gate" / "run-2.html").is_file()
    assert "regressed" in (tmp_path / "summary.md").read_text()
    # the next push takes it back: the same comment says so, and nothing fails
    (folder / "bowls.py").write_text(toys)
    git("commit", "--quiet", "-am", "as it was")
    assert run_action(folder, given, {**inputs, "options": "--repetitions 1"})[-1] == 0
    assert len(server.comments) == 1
