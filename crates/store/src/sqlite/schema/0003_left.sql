-- A run whose owner died can be resumed, or a human must step in. Every new row of a run forgets it.
ALTER TABLE run ADD COLUMN resume_available INTEGER NOT NULL DEFAULT 0;
