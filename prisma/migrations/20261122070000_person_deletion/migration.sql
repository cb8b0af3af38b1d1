-- Deleted persons ------------------------------------------------------------------------------------------------------
-- The person and its ids go with the request; the delivery worker removes what is left of it in portions. What stays for
-- a while is which ids were deleted, as hashes: events that still wait in the log must not bring the person back, and an
-- id that comes back starts a new person.

CREATE TABLE "person_deletion" (
    "id" UUID NOT NULL,
    "project_id" INTEGER NOT NULL,
    "person_uuid" UUID NOT NULL,
    -- Otherwise events stay, without what they hold of the person.
    "delete_events" BOOLEAN NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    -- The first transaction that cannot have seen the person any more; null until the worker first looks.
    "horizon" BIGINT,
    "attempt_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    -- Deleted or stripped so far.
    "events" BIGINT NOT NULL DEFAULT 0,
    "finished_at" TIMESTAMPTZ(3),
    CONSTRAINT "person_deletion_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "person_deletion_finished_at_attempt_at_idx" ON "person_deletion"("finished_at", "attempt_at");

CREATE TABLE "deleted_distinct_id" (
    "project_id" INTEGER NOT NULL,
    -- SHA-256 of the distinct id.
    "id_hash" BYTEA NOT NULL,
    "deletion_id" UUID NOT NULL,
    "person_uuid" UUID NOT NULL,
    -- Of the mapping that was deleted.
    "version" BIGINT NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL,
    -- Null once nothing of it is left.
    "distinct_id" TEXT,
    -- Its events up to this time are done.
    "done_until" TIMESTAMPTZ(3),
    CONSTRAINT "deleted_distinct_id_pkey" PRIMARY KEY ("project_id", "id_hash", "deletion_id")
);
CREATE INDEX "deleted_distinct_id_deletion_id_idx" ON "deleted_distinct_id"("deletion_id");
