-- What a pause has missed is what was stored meanwhile, whatever time the events themselves bear.
ALTER TABLE "batch_export_backfill" ADD COLUMN "by_stored_time" BOOLEAN NOT NULL DEFAULT false;
