"""Every kind of sentence that the report says, word for word.

`REFRESH_WORDS=1 pytest tests/report/test_words.py` writes words.txt again; read the difference first.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from html import unescape
from itertools import pairwise
from pathlib import Path

import pytest
from fixtures.scenes import optimizer, scenes

from benchfw.provenance import Burst, Noise
from benchfw.report.cell import render_cell
from benchfw.report.comment import comment
from benchfw.report.first_screen import describe_overall
from benchfw.report.markdown import markdown
from benchfw.report.terminal import plain_lines
from benchfw.report.verdicts import verdict
from benchfw.report.verdicts.overall import overall_sentences
from benchfw.report.verdicts.phrases import caveat_sentences, fault_advice, fault_place, fault_sentence
from benchfw.summary.summarize import summarize

WORDS = Path(__file__).parent / "words.txt"

RULES = {
    r"^No method gave a value|^No trial finished|^To try: |: \d+ of \d+ trials?": "Faults",
    r"[Dd]id not finish|\(\d+ diverged\)": "Arrivals",
    r"gave the same records|is not reproducible": "Faults",
    r"the machine was busy|ran \d+ at a time": "Noise of the machine",
    r"CPU time": "Noise of the machine",
    r"[Tt]oo few draws carry|[Nn]ever varied|has variance|drew the same": "What the draws allow",
    r"\d+ of \d+ problems|On none of|^It (is behind|cannot)|^Also ahead|The reference is |^On .* it is ": (
        "Over all problems"
    ),
    r"beyond noise on |10 % on |pair of runs on |^Neither ": "Over all problems",
    r"^On .*(ahead of|(has|needs) .* than )|below all others": "Over all problems",
    r"At every|shown at every|ahead of the others|The same holds|there, by at least": "Sweeps",
    r"[Bb]ias beyond noise|mean is off": "Is it biased?",
    r"(mean squared error|variance) x (CPU )?time|squared error of .* bias$": "Which estimator for the time?",
    r"three (paired runs )?are needed|six are needed|too few of their runs": "Too few runs",
    r"[Tt]oo few runs for so many comparisons": "Undecided",
    r"[Nn]o difference beyond noise": "Undecided",
    r"[Ee]qual within 10 %|[Ww]ithin 10 % in each": "Equality",
    r"beyond chance|never reached|is reached by|in any of its runs|too few of their runs": "Arrivals",
    r"some runs start at": "Arrivals",
    r"at least [\d.e+]+ times (fewer|less|more)": "Arrivals",
    r"At the end|lowest median end": "Ends",
    r"not counting preparation": "Preparation",
    r"assuming normal noise|^No method .*reaches .* with fewer": "Ratios",
    r"set by the methods' |the lowest start|best objective known": "The target",
    r"\[[\d.]+, [\d.]+\] times|\d times|beyond noise": "Ratios",
    r"\[[\d.]+, [\d.]+\] lower": "Metrics with a sign",
    r"there is no other method|is reached by|call .*takes": "Observed",
    r"reach(es)? .* with [\d., and]+ gradients": "Observed",
}
"""What in a sentence is covered by which rule of docs/statistics.md."""


def run_of(title, run):
    """The run of a scene: on a quiet machine, or where its loop of known work took twice as long."""
    busy = Noise(tuple(Burst(float(at), 0.002, 0.001, 0.001) for at in range(3)))
    return replace(run, noise=busy) if title.startswith("a busy machine") else run


def rules_of(sentence):
    """Return the rules that cover a sentence; every comparison is part of the family, too."""
    found = [rule for pattern, rule in RULES.items() if re.search(pattern, sentence)]
    ratios = {"Ratios", "Metrics with a sign", "Equality", "Undecided"}
    others = {"Is it biased?", "Sweeps"}
    judged = (ratios | others) & {*found} or re.search("beyond chance|at least|is lower in", sentence)
    return list(dict.fromkeys([*found, *(["The family of a report"] if judged else [])]))


def sentences(text):
    """Return the sentences of a text; a point within a number is followed by no space."""
    return [each.removesuffix(".") for each in text.replace("…", "").split(". ") if each]


def passage(title, summary):
    """Return all sentences of one summary, each below the rules that cover it."""
    said = overall_sentences(summary)
    said += [each for comparison in summary.comparisons for each in sentences(verdict(comparison))]
    for fault in summary.faults:
        said.append(f"{fault_place(fault)}: {fault_sentence(fault)}")
        if fault_advice(fault):
            said.append(f"To try: {fault_advice(fault)}")
    falls = any(each.falling for each in summary.comparisons)
    said += caveat_sentences(summary) if summary.jobs > 1 or falls else []
    lines = (f"[{'; '.join(rules_of(each))}]\n{each}." for each in said)
    return "\n".join([f"# {title}", *lines]) + "\n"


def test_the_words_are_those_that_were_agreed_on(make, run):
    said = "\n".join(
        passage(title, summarize(run_of(title, run), results)) for title, results in scenes(make).items()
    )
    beside = replace(run, environment=replace(run.environment, jobs=2))
    said += "\n" + passage("trials beside each other", summarize(beside, optimizer(make, "gd", 230, runs=3)))
    if os.environ.get("REFRESH_WORDS"):
        WORDS.write_text(said, encoding="utf-8")
        pytest.skip("words.txt is written again")
    assert said == WORDS.read_text(encoding="utf-8")


def test_the_sentences_over_all_problems_stand_first_in_every_form_of_a_report(realistic, run):
    summary = summarize(run, realistic())
    said = describe_overall(summary)
    assert " on 2 of " in said
    forms = {
        "terminal": " ".join("\n".join(plain_lines(summary)).split()),
        "Markdown": markdown(summary, run).replace("\\", ""),
        "comment": comment(summary, run).replace("\\", ""),
        "notebook": unescape(render_cell(summary, run, [])),
    }
    for name, text in forms.items():
        first = text.index("least-squares condition=100, optimizers")
        assert 0 <= text.find(" ".join(said.split()).replace("\xa0", " ")[:60]) < first, name


def test_every_sentence_has_a_rule_that_the_manual_explains():
    lines = WORDS.read_text(encoding="utf-8").splitlines()
    manual = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text(encoding="utf-8")
    covered = [pair for pair in pairwise(lines) if pair[0].startswith("[")]
    assert covered
    for rules, sentence in covered:
        assert rules != "[]", f"no rule covers: {sentence}"
        for rule in rules[1:-1].split("; "):
            assert re.search(rf"^(##+ |\*\*){re.escape(rule)}", manual, re.MULTILINE), rule
