-- What an operator does to the events of one project API key, or of one distinct id of it. Gateways read the whole table
-- every few seconds, so it is for exceptions: hundreds of rows, not millions.
CREATE TABLE "ingestion_restriction" (
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    -- The key as clients send it. No foreign key: it may be one that no project has (any more).
    "token" TEXT NOT NULL,
    -- Empty: all events of the key. No event has an empty distinct id.
    "distinct_id" TEXT NOT NULL DEFAULT '',
    "note" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ingestion_restriction_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "ingestion_restriction_kind_check"
        CHECK ("kind" IN ('drop_event', 'force_overflow', 'skip_person_processing'))
);

CREATE UNIQUE INDEX "ingestion_restriction_token_distinct_id_kind_key"
    ON "ingestion_restriction"("token", "distinct_id", "kind");
