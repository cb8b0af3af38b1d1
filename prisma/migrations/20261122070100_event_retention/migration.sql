-- Days after which the events of an environment are deleted; null: only the installation's own limit holds.
ALTER TABLE "environment" ADD COLUMN "event_retention_days" INTEGER;
