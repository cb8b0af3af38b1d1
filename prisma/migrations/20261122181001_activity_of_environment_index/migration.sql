-- concurrently
-- What was done in one environment.
CREATE INDEX CONCURRENTLY "activity_log_environment_id_created_at_id_idx" ON "activity_log" ("environment_id", "created_at", "id");
