-- Flags with encrypted payloads are few; the worker looks for those of an older key all the time.
CREATE INDEX "feature_flag_encrypted" ON "feature_flag"("id") WHERE "has_encrypted_payloads";
