-- Which log an installation's gateways append to while Kafka is away (packages/event-log/src/fallback) ------------------

CREATE TABLE "event_log_fallback" (
    -- The fallback's topic: one row for each installation that shares the database.
    "topic" TEXT NOT NULL,
    -- closed, opening, open or closing.
    "phase" TEXT NOT NULL DEFAULT 'closed',
    -- Grows by one each time the fallback is opened.
    "epoch" BIGINT NOT NULL DEFAULT 0,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "event_log_fallback_pkey" PRIMARY KEY ("topic")
);

CREATE TABLE "event_log_appender" (
    "topic" TEXT NOT NULL,
    "appender_id" UUID NOT NULL,
    "reaches_kafka" BOOLEAN NOT NULL,
    -- The last epoch for which nothing of this process is on its way to Kafka any more.
    "settled_epoch" BIGINT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "event_log_appender_pkey" PRIMARY KEY ("topic", "appender_id")
);
