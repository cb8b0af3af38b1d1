-- A stored offset belongs to one log ------------------------------------------------------------------------------------

-- Where a consumer group goes on in one log. Written in the transaction that stores the effects of the records before it.
-- Takes the place of consumer_offset, which did not know of which log it spoke.
CREATE TABLE "consumer_position" (
    "topic" TEXT NOT NULL,
    "partition" INTEGER NOT NULL,
    "group" TEXT NOT NULL,
    -- Cluster and topic of Kafka, or the partition's log_id in PostgreSQL: another one is another log.
    "log" TEXT NOT NULL,
    "next_offset" BIGINT NOT NULL,
    -- Offset, time and checksum of the record before next_offset: another one there means that the log was truncated.
    "record_before" TEXT,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "consumer_position_pkey" PRIMARY KEY ("topic", "partition", "group", "log")
);

-- What consumers of the version before have stored; the log that an offset was found to belong to went on from it.
ALTER TABLE "consumer_offset" ADD COLUMN "taken_over_by" TEXT;

-- The identity of the log in PostgreSQL: new when its tables were emptied.
ALTER TABLE "event_log_partition" ADD COLUMN "log_id" UUID NOT NULL DEFAULT gen_random_uuid();
