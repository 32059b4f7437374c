-- Where a conversation was begun, for people to read; `affinity` is the id of the workspace it needs.
ALTER TABLE lane ADD COLUMN folder TEXT NOT NULL DEFAULT '';
-- What a worker serves, as JSON; nothing for a process that is none.
ALTER TABLE worker ADD COLUMN workspaces TEXT;
-- When an inbox message was accepted: a prompt that nobody has read yet is listed as a queued run.
ALTER TABLE mail ADD COLUMN at TIMESTAMPTZ NOT NULL DEFAULT now();
ALTER TABLE run ADD COLUMN cancel_requested BOOLEAN NOT NULL DEFAULT false;
-- Whoever removes a lane looks whether another one has the same large body. There are few of them.
CREATE INDEX entry_blob ON entry (blob) WHERE blob IS NOT NULL;
CREATE INDEX lane_forks ON lane (parent) WHERE parent IS NOT NULL;
