-- concurrently
-- What was stored within an interval is found without reading the whole table: rows lie in the order of their arrival.
CREATE INDEX CONCURRENTLY "event_created_at_idx" ON "event" USING BRIN ("created_at");
