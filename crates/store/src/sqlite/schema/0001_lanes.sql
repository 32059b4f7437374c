-- One row per conversation: small and mutable; nothing indexed changes on a step.
-- Other tables name a lane by its number, which costs two bytes where the id costs fifty.
CREATE TABLE lane (
    no         INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE CHECK (length(id) > 0),
    tenant     TEXT NOT NULL DEFAULT 'default',
    agent      TEXT NOT NULL DEFAULT '',
    affinity   TEXT NOT NULL DEFAULT '',
    epoch      INTEGER NOT NULL DEFAULT 0,
    owner      TEXT,
    head       INTEGER NOT NULL DEFAULT 0,
    active_run TEXT,
    wake_at    INTEGER,
    parent     INTEGER REFERENCES lane (no),
    parent_at  INTEGER,
    CHECK ((parent IS NULL) = (parent_at IS NULL))
) STRICT;

-- Append only. Rows of all lanes lie in the order they were written, so that a batch of many
-- lanes fills few pages.
CREATE TABLE entry (
    no      INTEGER PRIMARY KEY,
    lane_no INTEGER NOT NULL REFERENCES lane (no),
    seq     INTEGER NOT NULL CHECK (seq > 0),
    epoch   INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    body    TEXT,
    blob    BLOB REFERENCES blob (hash),
    CHECK ((body IS NULL) <> (blob IS NULL))
) STRICT;
CREATE UNIQUE INDEX entry_by_seq ON entry (lane_no, seq);

-- Bodies over 64 KiB, by the SHA-256 of their bytes.
CREATE TABLE blob (
    hash  BLOB PRIMARY KEY CHECK (length(hash) = 32),
    size  INTEGER NOT NULL,
    bytes BLOB NOT NULL
) STRICT;

-- Rows stay after they were read, so that a key still means the same mail; only the body goes.
CREATE TABLE mail (
    lane_no    INTEGER NOT NULL REFERENCES lane (no),
    mail_id    INTEGER NOT NULL,
    client_key TEXT NOT NULL CHECK (length(client_key) > 0),
    kind       TEXT NOT NULL,
    body       TEXT,
    read_seq   INTEGER,
    PRIMARY KEY (lane_no, mail_id),
    UNIQUE (lane_no, client_key),
    CHECK ((body IS NULL) = (read_seq IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_waiting ON mail (lane_no, mail_id) WHERE read_seq IS NULL;

-- One row per process. The count of beats is what takeovers compare; the time is for people.
CREATE TABLE worker (
    worker_id TEXT PRIMARY KEY CHECK (length(worker_id) > 0),
    beats     INTEGER NOT NULL,
    beat_at   INTEGER NOT NULL,
    pid       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
    no            INTEGER PRIMARY KEY,
    run_id        TEXT NOT NULL UNIQUE,
    lane_no       INTEGER NOT NULL REFERENCES lane (no),
    state         TEXT NOT NULL,
    active        INTEGER NOT NULL CHECK (active IN (0, 1)),
    cause         TEXT,
    also          TEXT,
    text          TEXT,
    tool_rounds   INTEGER NOT NULL,
    model_calls   INTEGER NOT NULL,
    tool_calls    INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_read    INTEGER NOT NULL,
    cache_write   INTEGER NOT NULL,
    at            INTEGER NOT NULL
) STRICT;
-- The lane rule is the database's own, also if our code is wrong.
CREATE UNIQUE INDEX run_active ON run (lane_no) WHERE active = 1;
CREATE INDEX run_by_lane ON run (lane_no, no);

CREATE TABLE agent_loop_trace (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
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

-- What else is known of an iteration; the trace's own columns are fixed.
CREATE TABLE agent_loop_iteration (
    trace_id    INTEGER PRIMARY KEY REFERENCES agent_loop_trace (id),
    transition  TEXT NOT NULL,
    tool_rounds INTEGER,
    model_calls INTEGER,
    tool_calls  INTEGER
) STRICT;

-- The bytes of a result live once, in the entry that result_seq names.
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
    PRIMARY KEY (run_id, tool_call_id, occurrence)
) STRICT, WITHOUT ROWID;

-- A conversation keeps its prompt for hundreds of checkpoints; they name it by number.
CREATE TABLE prompt (
    no   INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE checkpoint (
    lane_no         INTEGER NOT NULL REFERENCES lane (no),
    seq             INTEGER NOT NULL,
    run_id          TEXT NOT NULL,
    kind            TEXT NOT NULL,
    iteration       INTEGER NOT NULL,
    message_cursor  INTEGER NOT NULL,
    persisted       INTEGER NOT NULL,
    prompt_no       INTEGER REFERENCES prompt (no),
    completed_calls TEXT,
    PRIMARY KEY (lane_no, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
    no      INTEGER PRIMARY KEY,
    lane_no INTEGER NOT NULL REFERENCES lane (no),
    seq     INTEGER NOT NULL,
    run_id  TEXT,
    at      INTEGER NOT NULL,
    name    TEXT NOT NULL,
    fields  TEXT NOT NULL
) STRICT;
CREATE INDEX event_by_lane ON event (lane_no, seq);
