-- What providers said besides their replies, beside the log and not for as long. In the order in which
-- it came, so that the oldest lie together and are forgotten together.
CREATE TABLE raw_response (
    no      INTEGER PRIMARY KEY,
    lane_no INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    run_id  TEXT,
    at      INTEGER NOT NULL,
    body    TEXT NOT NULL
) STRICT;
