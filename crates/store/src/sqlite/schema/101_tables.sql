-- SQLite keeps the text of each statement and parses it whenever the file is opened, so comments
-- stand before the statements and not in them.

-- One row per conversation: small and mutable; nothing indexed changes on a step.
-- Other tables name a lane by its number, which costs two bytes where the id costs fifty.
-- `affinity` is the id of the workspace that it needs; `folder` is where it was begun, for people to
-- read.
CREATE TABLE lane (
    no          INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE CHECK (length(id) > 0),
    tenant      TEXT NOT NULL DEFAULT 'default',
    agent       TEXT NOT NULL DEFAULT '',
    affinity    TEXT NOT NULL DEFAULT '',
    folder      TEXT NOT NULL DEFAULT '',
    epoch       INTEGER NOT NULL DEFAULT 0,
    owner       TEXT,
    head        INTEGER NOT NULL DEFAULT 0,
    active_run  TEXT,
    wake_at     INTEGER,
    fork_parent INTEGER REFERENCES lane (no),
    fork_seq    INTEGER,
    CHECK ((fork_parent IS NULL) = (fork_seq IS NULL))
) STRICT;
-- Lanes to drive are found without walking all of them. A step touches neither index: an owned lane
-- is not in the first, and its owner does not change.
CREATE INDEX lane_due ON lane (wake_at) WHERE owner IS NULL AND wake_at IS NOT NULL;
CREATE INDEX lane_owned ON lane (owner) WHERE owner IS NOT NULL;
CREATE INDEX lane_forks ON lane (fork_parent) WHERE fork_parent IS NOT NULL;

-- Append only. Rows of all lanes lie in the order they were written, so that a batch of many
-- lanes fills few pages. A checkpoint belongs to the entry it stands at, so it lies with it: a table
-- of its own was one more page to write at every step.
CREATE TABLE entry (
    no                 INTEGER PRIMARY KEY,
    lane_no            INTEGER NOT NULL REFERENCES lane (no),
    seq                INTEGER NOT NULL CHECK (seq > 0),
    epoch              INTEGER NOT NULL,
    at                 INTEGER NOT NULL,
    body               TEXT,
    blob               BLOB REFERENCES blob (hash),
    run_no             INTEGER,
    checkpoint         TEXT,
    iteration          INTEGER,
    message_cursor     INTEGER,
    prompt_no          INTEGER,
    completed_calls    TEXT,
    persisted_messages INTEGER,
    CHECK ((body IS NULL) <> (blob IS NULL))
) STRICT;
CREATE UNIQUE INDEX entry_by_seq ON entry (lane_no, seq);
-- Removing a lane asks whether another one has the same large body. There are few of them.
CREATE INDEX entry_blob ON entry (blob) WHERE blob IS NOT NULL;

-- Bodies over 64 KiB, by the SHA-256 of their bytes.
CREATE TABLE blob (
    hash  BLOB PRIMARY KEY CHECK (length(hash) = 32),
    size  INTEGER NOT NULL,
    bytes BLOB NOT NULL
) STRICT;

-- Rows stay after they were read, so that a key still means the same message; only the body goes.
-- `at` is when it was accepted: a prompt that is still unread is listed as a queued run.
CREATE TABLE inbox (
    lane_no         INTEGER NOT NULL REFERENCES lane (no),
    message_id      INTEGER NOT NULL,
    idempotency_key TEXT NOT NULL CHECK (length(idempotency_key) > 0),
    kind            TEXT NOT NULL,
    body            TEXT,
    read_seq        INTEGER,
    at              INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (lane_no, message_id),
    UNIQUE (lane_no, idempotency_key),
    CHECK ((body IS NULL) = (read_seq IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX inbox_unread ON inbox (lane_no, message_id) WHERE read_seq IS NULL;

-- One row per process. The count of heartbeats is what takeovers compare; the time is for people.
-- `workspaces` is what a worker serves, as JSON; nothing for a process that is none.
CREATE TABLE worker (
    worker_id    TEXT PRIMARY KEY CHECK (length(worker_id) > 0),
    heartbeats   INTEGER NOT NULL,
    heartbeat_at INTEGER NOT NULL,
    pid          INTEGER NOT NULL,
    workspaces   TEXT
) STRICT, WITHOUT ROWID;

-- `resume_available`: a run whose owner died can be resumed, or a human must step in; every new row of
-- a run forgets it. `resume_policy`: what becomes of a run when its process dies, `automatic` or
-- `manual`. The columns after `usd_micros` say what a run is about, for lists of runs and statistics.
CREATE TABLE run (
    no               INTEGER PRIMARY KEY,
    run_id           TEXT NOT NULL UNIQUE,
    lane_no          INTEGER NOT NULL REFERENCES lane (no),
    state            TEXT NOT NULL,
    active           INTEGER NOT NULL CHECK (active IN (0, 1)),
    cause            TEXT,
    other_causes     TEXT,
    text             TEXT,
    tool_rounds      INTEGER NOT NULL,
    model_calls      INTEGER NOT NULL,
    tool_calls       INTEGER NOT NULL,
    input_tokens     INTEGER NOT NULL,
    output_tokens    INTEGER NOT NULL,
    cache_read       INTEGER NOT NULL,
    cache_write      INTEGER NOT NULL,
    at               INTEGER NOT NULL,
    resume_available INTEGER NOT NULL DEFAULT 0,
    usd_micros       INTEGER,
    prompt           TEXT,
    folder           TEXT,
    agent            TEXT,
    profile          TEXT,
    model            TEXT,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    resume_policy    TEXT
) STRICT;
-- The lane rule is the database's own, also if our code is wrong.
CREATE UNIQUE INDEX run_active ON run (lane_no) WHERE active = 1;
CREATE INDEX run_by_lane ON run (lane_no, no);

-- Without AUTOINCREMENT, whose own table would be one more page per round.
CREATE TABLE agent_loop_trace (
    id            INTEGER PRIMARY KEY,
    job_id        TEXT NOT NULL,
    iter          INTEGER NOT NULL,
    stop_reason   TEXT,
    tool_calls    TEXT NOT NULL,
    input_tokens  INTEGER,
    output_tokens INTEGER,
    cache_read    INTEGER,
    cache_write   INTEGER,
    ts            TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
CREATE INDEX agent_loop_trace_by_job ON agent_loop_trace (job_id, iter);

-- What else is known of an iteration; the trace's own columns are fixed. `reply_stop_reason` is the
-- model's own word for why it stopped, where the trace says why the run ended.
CREATE TABLE agent_loop_iteration (
    trace_id          INTEGER PRIMARY KEY REFERENCES agent_loop_trace (id),
    transition        TEXT NOT NULL,
    tool_rounds       INTEGER,
    model_calls       INTEGER,
    tool_calls        INTEGER,
    model             TEXT,
    reply_stop_reason TEXT
) STRICT;

-- The bytes of a result live once, in the entry that result_seq names. `attempts` counts how often a
-- call was run, retries included: a tool that needs many is flaky.
CREATE TABLE agent_tool_results (
    run_id       TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    occurrence   INTEGER NOT NULL DEFAULT 0,
    call         TEXT NOT NULL,
    tool         TEXT NOT NULL,
    started_at   INTEGER,
    completed_at INTEGER,
    outcome      TEXT,
    result_seq   INTEGER,
    attempts     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run_id, tool_call_id, occurrence)
) STRICT, WITHOUT ROWID;

-- A conversation keeps its prompt for hundreds of checkpoints; they name it by number.
CREATE TABLE prompt (
    no   INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE
) STRICT;

CREATE VIEW checkpoint AS
    SELECT entry.lane_no, entry.seq, run.run_id, entry.checkpoint AS kind, entry.iteration,
        entry.message_cursor, entry.persisted_messages, entry.prompt_no, entry.completed_calls
    FROM entry JOIN run ON run.no = entry.run_no WHERE entry.checkpoint IS NOT NULL;

-- Events of a lane are read from its log; this table is read in the order of its rows and has no
-- index, which every event would write a page of. Statistics are kept by agent and by profile.
CREATE TABLE event (
    no      INTEGER PRIMARY KEY,
    lane_no INTEGER NOT NULL REFERENCES lane (no),
    seq     INTEGER NOT NULL,
    run_id  TEXT,
    at      INTEGER NOT NULL,
    name    TEXT NOT NULL,
    fields  TEXT NOT NULL,
    agent   TEXT NOT NULL DEFAULT '',
    profile TEXT NOT NULL DEFAULT ''
) STRICT;

-- What providers said besides their replies, beside the log and not for as long. In the order in which
-- it came, so that the oldest lie together and are forgotten together. `body` is a JSON object,
-- `response` the text that the provider sent.
CREATE TABLE raw_response (
    no       INTEGER PRIMARY KEY,
    lane_no  INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    run_id   TEXT,
    at       INTEGER NOT NULL,
    body     TEXT NOT NULL,
    response TEXT
) STRICT;

-- What all conversations of a profile have spent and reserved in a period. Changed in the
-- transaction of the append that spends, so that processes cannot miss each other.
CREATE TABLE spending (
    account    TEXT NOT NULL,
    period     TEXT NOT NULL,
    tokens     INTEGER NOT NULL,
    usd_micros INTEGER NOT NULL,
    PRIMARY KEY (account, period)
) STRICT, WITHOUT ROWID;

-- Events of worker processes, which belong to no entry of a log.
CREATE TABLE worker_event (
    no     INTEGER PRIMARY KEY,
    at     INTEGER NOT NULL,
    worker TEXT NOT NULL,
    lane   TEXT,
    name   TEXT NOT NULL,
    fields TEXT NOT NULL
) STRICT;
