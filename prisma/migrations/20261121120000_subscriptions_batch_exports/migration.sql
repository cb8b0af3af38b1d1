-- Subscriptions -------------------------------------------------------------------------------------------------------

CREATE TABLE "subscription" (
    "id" SERIAL NOT NULL,
    "environment_id" INTEGER NOT NULL,
    -- Numbers in another system: dashboards and insights are not kept here.
    "dashboard" INTEGER,
    "insight" INTEGER,
    "target_type" TEXT NOT NULL,
    "target_value" TEXT NOT NULL,
    "frequency" TEXT NOT NULL,
    "interval" INTEGER NOT NULL DEFAULT 1,
    "byweekday" TEXT[],
    "bysetpos" INTEGER,
    "count" INTEGER,
    "start_date" TIMESTAMPTZ(6) NOT NULL,
    "until_date" TIMESTAMPTZ(6),
    "deleted" BOOLEAN NOT NULL DEFAULT false,
    "title" TEXT,
    "created_by_id" INTEGER,
    -- Null when the rule has come to its end. The worker delivers what is due and moves it in one transaction.
    "next_delivery_date" TIMESTAMPTZ(6),
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "subscription_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "subscription_environment_id_id_idx" ON "subscription"("environment_id", "id");
CREATE INDEX "subscription_next_delivery_date_idx" ON "subscription"("next_delivery_date");
CREATE INDEX "subscription_created_by_id_idx" ON "subscription"("created_by_id");

-- One report to one target. Written in the transaction that causes it, so that none is lost and none is made twice.
CREATE TABLE "subscription_delivery" (
    "id" UUID NOT NULL,
    "subscription_id" INTEGER NOT NULL,
    -- scheduled, created, target_changed.
    "occasion" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(6) NOT NULL,
    -- One e-mail address, or the whole target_value.
    "target" TEXT NOT NULL,
    "invite_message" TEXT,
    -- pending, delivered, failed, cancelled.
    "status" TEXT NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    -- When the next attempt may be made; while one is in progress, when it is given up for dead.
    "attempt_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "error" TEXT,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(6),
    CONSTRAINT "subscription_delivery_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "subscription_delivery_subscription_id_occasion_due_at_targe_key" ON "subscription_delivery"("subscription_id", "occasion", "due_at", "target");
CREATE INDEX "subscription_delivery_subscription_id_created_at_id_idx" ON "subscription_delivery"("subscription_id", "created_at", "id");
CREATE INDEX "subscription_delivery_status_attempt_at_idx" ON "subscription_delivery"("status", "attempt_at");
ALTER TABLE "subscription_delivery" ADD CONSTRAINT "subscription_delivery_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscription"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Batch exports -------------------------------------------------------------------------------------------------------

CREATE TABLE "batch_export" (
    "id" UUID NOT NULL,
    "environment_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "model" TEXT NOT NULL DEFAULT 'events',
    "destination_type" TEXT NOT NULL,
    -- What may be shown; secrets are kept apart, so that no query for an answer reads them.
    "destination_config" JSONB NOT NULL DEFAULT '{}',
    "destination_secrets" JSONB NOT NULL DEFAULT '{}',
    "interval" TEXT NOT NULL,
    -- Zone in which days and weeks begin, as the environment had it when the export was made.
    "timezone" TEXT NOT NULL DEFAULT 'UTC',
    "paused" BOOLEAN NOT NULL DEFAULT false,
    "last_paused_at" TIMESTAMPTZ(6),
    "start_at" TIMESTAMPTZ(6),
    "end_at" TIMESTAMPTZ(6),
    -- The interval that is exported next, and its end; both null when no more will come.
    "next_interval_start" TIMESTAMPTZ(6),
    "next_interval_end" TIMESTAMPTZ(6),
    "deleted" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "batch_export_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "batch_export_environment_id_created_at_id_idx" ON "batch_export"("environment_id", "created_at", "id");
CREATE INDEX "batch_export_next_interval_end_idx" ON "batch_export"("next_interval_end");

CREATE TABLE "batch_export_backfill" (
    -- <export id>-Backfill-<start>-<end>: asking for the same range twice is asking for one backfill.
    "id" TEXT NOT NULL,
    "batch_export_id" UUID NOT NULL,
    "start_at" TIMESTAMPTZ(6) NOT NULL,
    "end_at" TIMESTAMPTZ(6) NOT NULL,
    -- Running, Completed, Failed, Cancelled.
    "status" TEXT NOT NULL DEFAULT 'Running',
    -- How far runs have been made; null when all have.
    "next_interval_start" TIMESTAMPTZ(6),
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(6),
    "last_updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "batch_export_backfill_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "batch_export_backfill_batch_export_id_created_at_id_idx" ON "batch_export_backfill"("batch_export_id", "created_at", "id");
CREATE INDEX "batch_export_backfill_status_idx" ON "batch_export_backfill"("status");
ALTER TABLE "batch_export_backfill" ADD CONSTRAINT "batch_export_backfill_batch_export_id_fkey" FOREIGN KEY ("batch_export_id") REFERENCES "batch_export"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- One interval of one export.
CREATE TABLE "batch_export_run" (
    "id" UUID NOT NULL,
    "batch_export_id" UUID NOT NULL,
    "backfill_id" TEXT,
    "data_interval_start" TIMESTAMPTZ(6) NOT NULL,
    "data_interval_end" TIMESTAMPTZ(6) NOT NULL,
    -- Starting, Running, Completed, Failed, FailedRetryable, Cancelled.
    "status" TEXT NOT NULL DEFAULT 'Starting',
    "records_completed" INTEGER,
    "latest_error" TEXT,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    -- As of a delivery.
    "attempt_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(6),
    "last_updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "batch_export_run_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "batch_export_run_batch_export_id_created_at_id_idx" ON "batch_export_run"("batch_export_id", "created_at", "id");
CREATE INDEX "batch_export_run_backfill_id_idx" ON "batch_export_run"("backfill_id");
CREATE INDEX "batch_export_run_status_attempt_at_idx" ON "batch_export_run"("status", "attempt_at");
ALTER TABLE "batch_export_run" ADD CONSTRAINT "batch_export_run_batch_export_id_fkey" FOREIGN KEY ("batch_export_id") REFERENCES "batch_export"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "batch_export_run" ADD CONSTRAINT "batch_export_run_backfill_id_fkey" FOREIGN KEY ("backfill_id") REFERENCES "batch_export_backfill"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Last, since they hold tables that services write, until the end of the script.
ALTER TABLE "subscription" ADD CONSTRAINT "subscription_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "subscription" ADD CONSTRAINT "subscription_created_by_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "batch_export" ADD CONSTRAINT "batch_export_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;
