-- What a run is about and what it cost, for lists of runs and statistics.
ALTER TABLE run ADD COLUMN usd_micros INTEGER;
ALTER TABLE run ADD COLUMN prompt TEXT;
ALTER TABLE run ADD COLUMN folder TEXT;
ALTER TABLE run ADD COLUMN agent TEXT;
ALTER TABLE run ADD COLUMN profile TEXT;
ALTER TABLE run ADD COLUMN model TEXT;
