-- What a server keeps beside conversations: tokens, webhooks, schedules. `subject` is what a document
-- is about; `due_at` when something is to be done about it.
CREATE TABLE document (
    kind    TEXT NOT NULL CHECK (length(kind) > 0),
    key     TEXT NOT NULL CHECK (length(key) > 0),
    tenant  TEXT NOT NULL,
    subject TEXT NOT NULL,
    due_at  INTEGER,
    version INTEGER NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX document_by_subject ON document (kind, subject, key) WHERE subject <> '';
CREATE INDEX document_due ON document (kind, due_at, key) WHERE due_at IS NOT NULL;

-- What a tenant may use; NULL is no limit.
CREATE TABLE tenant_limit (
    tenant             TEXT PRIMARY KEY CHECK (length(tenant) > 0),
    queued_prompts     INTEGER,
    active_runs        INTEGER,
    usd_micros_per_day INTEGER
) STRICT, WITHOUT ROWID;

-- Counts of runs that ended are read from this index alone.
CREATE INDEX run_by_cause ON run (cause, state) WHERE cause IS NOT NULL;
