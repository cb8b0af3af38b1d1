-- concurrently
-- What is old enough to be forgotten.
CREATE INDEX CONCURRENTLY "activity_log_created_at_idx" ON "activity_log" ("created_at");
