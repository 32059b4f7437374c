-- Rows of the trace are never deleted, so its ids only grow: keeping the largest one in a table of its
-- own was a page more per round.
CREATE TABLE trace_anew (
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
INSERT INTO trace_anew SELECT * FROM agent_loop_trace ORDER BY id;
CREATE TABLE iteration_anew (
    trace_id    INTEGER PRIMARY KEY REFERENCES trace_anew (id),
    transition  TEXT NOT NULL,
    tool_rounds INTEGER,
    model_calls INTEGER,
    tool_calls  INTEGER
) STRICT;
INSERT INTO iteration_anew SELECT * FROM agent_loop_iteration;
DROP TABLE agent_loop_iteration;
DROP TABLE agent_loop_trace;
-- Renaming carries the reference along.
ALTER TABLE trace_anew RENAME TO agent_loop_trace;
ALTER TABLE iteration_anew RENAME TO agent_loop_iteration;
CREATE INDEX agent_loop_trace_by_job ON agent_loop_trace (job_id, iter);
