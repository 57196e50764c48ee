"""The tables of a store and the statements on them."""

# ruff: noqa: S608 - what is put into statements here are the columns below, nothing from outside

APPLICATION_ID = 0x62666777  # "bfgw": tells a store from any other SQLite file
SCHEMA_VERSION = 3
TABLES = ("run", "trial", "link", "record", "reservation")
LAYOUT = """
CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT, suite TEXT NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL,
    environment TEXT NOT NULL, started TEXT NOT NULL, finished TEXT, reused INTEGER NOT NULL DEFAULT 0,
    noise TEXT NOT NULL DEFAULT '{}', digest TEXT NOT NULL DEFAULT '');
CREATE TABLE trial (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, kind TEXT NOT NULL, problem TEXT NOT NULL,
    method TEXT NOT NULL, backend TEXT NOT NULL, repetition INTEGER NOT NULL, tuning INTEGER NOT NULL,
    settings TEXT NOT NULL,
    status TEXT NOT NULL, ending TEXT NOT NULL, reason TEXT NOT NULL, facts TEXT NOT NULL,
    caveats TEXT NOT NULL, claims_unbiased INTEGER NOT NULL, peak_memory INTEGER, cost_unit TEXT NOT NULL,
    counting TEXT NOT NULL, prepare_seconds REAL, prepare_cost REAL, replay TEXT,
    from_scratch INTEGER NOT NULL, wall REAL NOT NULL, device TEXT NOT NULL, reads TEXT NOT NULL,
    ended TEXT NOT NULL, digest TEXT NOT NULL);
CREATE INDEX trial_key ON trial (key);
CREATE TABLE link (
    run INTEGER NOT NULL REFERENCES run, position INTEGER NOT NULL, trial INTEGER NOT NULL REFERENCES trial,
    problem TEXT NOT NULL, method TEXT NOT NULL, reused INTEGER NOT NULL, digest TEXT NOT NULL,
    PRIMARY KEY (run, position)) WITHOUT ROWID;
CREATE INDEX link_trial ON link (trial);
CREATE TABLE record (
    trial INTEGER NOT NULL REFERENCES trial, number INTEGER NOT NULL, metric TEXT NOT NULL,
    role TEXT NOT NULL, iteration INTEGER NOT NULL, seconds REAL NOT NULL, cpu_seconds REAL, cost REAL,
    value REAL,
    PRIMARY KEY (trial, number)) WITHOUT ROWID;
CREATE TABLE reservation (key TEXT PRIMARY KEY, run INTEGER NOT NULL REFERENCES run) WITHOUT ROWID
"""

RUN_COLUMNS = "id, suite, title, text, environment, started, finished, reused, noise"
TRIAL_COLUMNS = (
    "key, kind, problem, method, backend, repetition, tuning, settings, status, ending, reason, facts, "
    "caveats, claims_unbiased, peak_memory, cost_unit, counting, prepare_seconds, prepare_cost, replay, "
    "from_scratch, wall, device, reads, ended"
)
REPLAY_COLUMN, WALL_COLUMN = map(TRIAL_COLUMNS.split(", ").index, ("replay", "wall"))
PLACE_COLUMNS = tuple(map(TRIAL_COLUMNS.split(", ").index, ("problem", "method", "reads")))
LINK_COLUMNS = "run, position, trial, problem, method, reused"
RECORD_COLUMNS = "metric, iteration, seconds, cost, value, role, cpu_seconds"


def _places(columns: str, more: int) -> str:
    """Return a question mark for every column, and for some more."""
    return ", ".join("?" * (columns.count(",") + 1 + more))


INSERT_RUN = "INSERT INTO run (suite, title, text, environment, started) VALUES (?, ?, ?, ?, ?)"
INSERT_TRIAL = f"INSERT INTO trial ({TRIAL_COLUMNS}, digest) VALUES ({_places(TRIAL_COLUMNS, 1)})"
INSERT_LINK = f"INSERT INTO link ({LINK_COLUMNS}, digest) VALUES (?, ?, ?, ?, ?, ?, ?)"
INSERT_RECORD = f"INSERT INTO record (trial, number, {RECORD_COLUMNS}) VALUES ({_places(RECORD_COLUMNS, 2)})"
COPY_RUN = f"INSERT INTO run (digest, {RUN_COLUMNS}) VALUES ({_places(RUN_COLUMNS, 1)})"
COPY_TRIAL = f"INSERT INTO trial (id, digest, {TRIAL_COLUMNS}) VALUES ({_places(TRIAL_COLUMNS, 2)})"
SEAL_REPLAY = "UPDATE trial SET replay = ?, digest = ? WHERE id = ?"
SEAL_TRIAL = f"""
UPDATE trial SET ({TRIAL_COLUMNS}, digest) = ({_places(TRIAL_COLUMNS, 1)}) WHERE id = ?
"""
NOTE_ENVIRONMENT = "UPDATE run SET environment = ? WHERE id = ?"
NOTE_NOISE = "UPDATE run SET noise = ? WHERE id = ?"
SELECT_EARLIER_NOISE = """
SELECT noise FROM run WHERE id IN (SELECT run FROM link WHERE reused = 0 AND trial IN
    (SELECT trial FROM link WHERE run = ? AND reused = 1)) ORDER BY id
"""
SEAL_RUN = "UPDATE run SET digest = ? WHERE id = ?"
SELECT_RUN = f"SELECT digest, {RUN_COLUMNS} FROM run WHERE id = ?"
SELECT_RUNS = f"SELECT digest, {RUN_COLUMNS} FROM run ORDER BY id"
SELECT_CLAIMS = "SELECT environment FROM run WHERE environment LIKE ? ORDER BY id"
COUNT_SEEN = """
SELECT COUNT(DISTINCT key) FROM trial WHERE status != ? AND ended < ? AND key IN ({})
"""
SELECT_TRIAL = f"SELECT digest, {TRIAL_COLUMNS} FROM trial WHERE id = ?"
SELECT_LINKS = f"SELECT digest, {LINK_COLUMNS} FROM link WHERE run = ? ORDER BY position"
SELECT_LINKED = f"""
SELECT link.digest, run, position, trial, link.problem, link.method, reused,
    trial.digest, {", ".join(f"trial.{column}" for column in TRIAL_COLUMNS.split(", "))}
FROM link LEFT JOIN trial ON trial.id = link.trial WHERE run = ? AND position > ? ORDER BY position
"""
SELECT_SPECS = """
SELECT DISTINCT trial.problem, trial.method, link.problem, link.method
FROM link JOIN trial ON trial.id = link.trial WHERE run = ? ORDER BY position
"""
SELECT_FIRST_LINK = f"SELECT digest, {LINK_COLUMNS} FROM link WHERE trial = ? LIMIT 1"
SELECT_KNOWN = "SELECT key, id, status, reads FROM trial WHERE status != ? AND key IN ({}) ORDER BY id"
SELECT_SAME_PROBLEM = """
SELECT id FROM trial WHERE kind = 'optimizer' AND json_extract(settings, '$.problem_key') = ?
    AND json_extract(settings, '$.seed') = ? AND tuning = ? AND id IN (SELECT trial FROM link)
"""
SELECT_TRIAL_RECORDS = f"SELECT {RECORD_COLUMNS} FROM record WHERE trial = ? ORDER BY number"
SELECT_LINKED_RECORDS = f"""
SELECT position, {RECORD_COLUMNS} FROM link CROSS JOIN record ON record.trial = link.trial
WHERE run = ? AND position > ? ORDER BY position, number
"""
COUNT_ENDINGS = """
SELECT link.run, trial.tuning > 0, trial.status, COUNT(*) FROM link JOIN trial ON trial.id = link.trial
GROUP BY 1, 2, 3
"""
EXTRACT_RUN = """
INSERT INTO main.run SELECT * FROM source.run WHERE id = :run;
INSERT INTO main.link SELECT * FROM source.link WHERE run = :run;
INSERT INTO main.trial SELECT * FROM source.trial WHERE id IN (SELECT trial FROM main.link);
INSERT INTO main.record SELECT * FROM source.record WHERE trial IN (SELECT trial FROM main.link)
"""
