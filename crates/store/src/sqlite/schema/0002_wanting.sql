-- Whoever looks for lanes to drive finds them without walking all of them. A step touches neither
-- index: an owned lane is not in the first, and its owner does not change.
CREATE INDEX lane_due ON lane (wake_at) WHERE owner IS NULL AND wake_at IS NOT NULL;
CREATE INDEX lane_owned ON lane (owner) WHERE owner IS NOT NULL;
