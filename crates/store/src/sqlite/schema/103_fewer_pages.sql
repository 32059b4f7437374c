-- A raw response lies with its entry: a table of its own was one more page to write per turn.
-- `rows` are the rows of the entry that are not in their tables yet, as JSON (`deferred_rows.rs`).
ALTER TABLE entry ADD COLUMN rows TEXT;
ALTER TABLE entry ADD COLUMN raw_at INTEGER;
ALTER TABLE entry ADD COLUMN raw_body TEXT;
ALTER TABLE entry ADD COLUMN raw_response TEXT;
UPDATE entry SET raw_at = raw.at, raw_body = raw.body, raw_response = raw.response,
        run_no = coalesce(run_no, (SELECT run.no FROM run WHERE run.run_id = raw.run_id))
    FROM raw_response AS raw WHERE raw.lane_no = entry.lane_no AND raw.seq = entry.seq;
DROP TABLE raw_response;

-- The entry up to which raw responses were deleted by age. One row.
CREATE TABLE raw_retention (deleted_to INTEGER NOT NULL) STRICT;
INSERT INTO raw_retention (deleted_to) VALUES (0);

-- `rows_from` is the first entry whose rows are not in their tables yet. `run_at` and
-- `run_usd_micros` are the time and the cost of the active run, whose row may be one of them.
ALTER TABLE lane ADD COLUMN rows_from INTEGER;
ALTER TABLE lane ADD COLUMN run_at INTEGER;
ALTER TABLE lane ADD COLUMN run_usd_micros INTEGER;
-- No step changes `rows_from` of a lane in this index.
CREATE INDEX lane_rows ON lane (no) WHERE rows_from IS NOT NULL;
