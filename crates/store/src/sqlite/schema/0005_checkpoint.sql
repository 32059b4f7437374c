-- A checkpoint belongs to the entry it stands at, so it lies with it: a table of its own was one more
-- page to write at every step. The older ones stay where they are; the view shows both.
ALTER TABLE checkpoint RENAME TO older_checkpoint;
ALTER TABLE entry ADD COLUMN run_no INTEGER;
ALTER TABLE entry ADD COLUMN checkpoint TEXT;
ALTER TABLE entry ADD COLUMN iteration INTEGER;
ALTER TABLE entry ADD COLUMN message_cursor INTEGER;
ALTER TABLE entry ADD COLUMN prompt_no INTEGER;
ALTER TABLE entry ADD COLUMN completed_calls TEXT;
CREATE VIEW checkpoint AS
    SELECT entry.lane_no, entry.seq, run.run_id, entry.checkpoint AS kind, entry.iteration,
        entry.message_cursor, entry.seq AS persisted, entry.prompt_no, entry.completed_calls
    FROM entry JOIN run ON run.no = entry.run_no WHERE entry.checkpoint IS NOT NULL
    UNION ALL
    SELECT lane_no, seq, run_id, kind, iteration, message_cursor, persisted, prompt_no,
        completed_calls
    FROM older_checkpoint;
