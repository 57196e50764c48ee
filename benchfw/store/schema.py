"""The tables of a store and the statements on them."""

from benchfw.records import SCHEMA_VERSION

APPLICATION_ID = 0x62666777  # "bfgw": tells a store from any other SQLite file
SCHEMA = """
CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT, suite TEXT NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL,
    environment TEXT NOT NULL, started TEXT NOT NULL, finished TEXT, reused INTEGER NOT NULL DEFAULT 0);
CREATE TABLE trial (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, kind TEXT NOT NULL, problem TEXT NOT NULL,
    method TEXT NOT NULL, backend TEXT NOT NULL, repetition INTEGER NOT NULL, settings TEXT NOT NULL,
    status TEXT NOT NULL, reason TEXT NOT NULL, cost_unit TEXT NOT NULL, wall REAL NOT NULL,
    ended TEXT NOT NULL);
CREATE INDEX trial_key ON trial (key);
CREATE TABLE link (
    run INTEGER NOT NULL REFERENCES run, position INTEGER NOT NULL, trial INTEGER NOT NULL REFERENCES trial,
    problem TEXT NOT NULL, method TEXT NOT NULL, reused INTEGER NOT NULL, PRIMARY KEY (run, position)
    ) WITHOUT ROWID;
CREATE TABLE record (
    trial INTEGER NOT NULL REFERENCES trial, number INTEGER NOT NULL, metric TEXT NOT NULL,
    iteration INTEGER NOT NULL, seconds REAL NOT NULL, cost REAL, value REAL,
    PRIMARY KEY (trial, number)) WITHOUT ROWID;
"""
MARKS = (f"PRAGMA application_id = {APPLICATION_ID}", f"PRAGMA user_version = {SCHEMA_VERSION}")
INSERT_TRIAL = """
INSERT INTO trial (
    key, kind, problem, method, backend, repetition, settings, status, reason, cost_unit, wall, ended
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
SELECT_TRIAL = """
SELECT trial.id, trial.kind, trial.problem, trial.method, trial.backend, trial.repetition, trial.settings,
       trial.key, trial.status, trial.reason, trial.cost_unit, trial.wall,
       link.problem, link.method, link.reused
FROM trial JOIN link ON link.trial = trial.id
"""
COUNT_ENDINGS = """
SELECT link.run, trial.status, COUNT(*) FROM link JOIN trial ON trial.id = link.trial GROUP BY 1, 2
"""
INSERT_RUN = "INSERT INTO run (suite, title, text, environment, started) VALUES (?, ?, ?, ?, ?)"
INSERT_LINK = "INSERT INTO link VALUES (?, ?, ?, ?, ?, ?)"
INSERT_RECORD = "INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?)"
SELECT_RUNS = "SELECT id, suite, title, started, finished, reused, text, environment FROM run ORDER BY id"
SELECT_KNOWN = "SELECT key, id, status FROM trial WHERE status != ? ORDER BY id"
SELECT_RECORDS = """
SELECT trial, metric, iteration, seconds, cost, value FROM record
WHERE trial IN (SELECT trial FROM link WHERE run = ?) ORDER BY trial, number
"""
SELECT_TRIAL_RECORDS = """
SELECT metric, iteration, seconds, cost, value FROM record WHERE trial = ? ORDER BY number
"""
COPY_RUN = """
INSERT INTO main.run SELECT * FROM source.run WHERE id = :run;
INSERT INTO main.link SELECT * FROM source.link WHERE run = :run;
INSERT INTO main.trial SELECT * FROM source.trial WHERE id IN (SELECT trial FROM main.link);
INSERT INTO main.record SELECT * FROM source.record WHERE trial IN (SELECT trial FROM main.link)
"""
