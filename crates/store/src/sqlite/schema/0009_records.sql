-- How often a call was run, retries included: a tool that needs many is flaky.
ALTER TABLE agent_tool_results ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
-- Statistics are kept by agent and by profile.
ALTER TABLE event ADD COLUMN agent TEXT NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN profile TEXT NOT NULL DEFAULT '';
-- A checkpoint counts the messages that are stored; it used to repeat the entry's number.
ALTER TABLE entry ADD COLUMN persisted_messages INTEGER;
DROP VIEW checkpoint;
CREATE VIEW checkpoint AS
    SELECT entry.lane_no, entry.seq, run.run_id, entry.checkpoint AS kind, entry.iteration,
        entry.message_cursor, entry.persisted_messages, entry.prompt_no, entry.completed_calls
    FROM entry JOIN run ON run.no = entry.run_no WHERE entry.checkpoint IS NOT NULL
    UNION ALL
    SELECT lane_no, seq, run_id, kind, iteration, message_cursor, NULL, prompt_no, completed_calls
    FROM older_checkpoint;
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
