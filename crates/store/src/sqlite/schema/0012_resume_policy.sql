-- What becomes of a run when its process dies: `automatic` or `manual`.
ALTER TABLE run ADD COLUMN resume_policy TEXT;
