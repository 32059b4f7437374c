-- The model that an iteration asked, and its own word for why it stopped where the trace says why
-- the run ended.
ALTER TABLE agent_loop_iteration ADD COLUMN model TEXT;
ALTER TABLE agent_loop_iteration ADD COLUMN reply_stop_reason TEXT;
