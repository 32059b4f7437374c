-- What a run is about and what it cost, for lists of runs and statistics.
ALTER TABLE run
    ADD COLUMN usd_micros BIGINT,
    ADD COLUMN prompt TEXT,
    ADD COLUMN folder TEXT,
    ADD COLUMN agent TEXT,
    ADD COLUMN profile TEXT,
    ADD COLUMN model TEXT;
