-- Feature flags, cohorts, early access features. `project_id` is the id of the environment that owns the data ----------

CREATE TABLE "feature_flag" (
    "id" SERIAL NOT NULL,
    "project_id" INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    "name" TEXT NOT NULL DEFAULT '',
    "filters" JSONB NOT NULL DEFAULT '{}',
    "active" BOOLEAN NOT NULL DEFAULT true,
    "deleted" BOOLEAN NOT NULL DEFAULT false,
    "archived" BOOLEAN NOT NULL DEFAULT false,
    "version" INTEGER NOT NULL DEFAULT 1,
    "rollout_percentage" DOUBLE PRECISION,
    "ensure_experience_continuity" BOOLEAN DEFAULT false,
    "bucketing_identifier" TEXT,
    "evaluation_runtime" TEXT DEFAULT 'all',
    "evaluation_contexts" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "tags" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "is_remote_configuration" BOOLEAN,
    "has_encrypted_payloads" BOOLEAN,
    "has_enriched_analytics" BOOLEAN,
    "rollback_conditions" JSONB,
    "performed_rollback" BOOLEAN,
    "created_by_id" INTEGER,
    "last_modified_by_id" INTEGER,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_called_at" TIMESTAMPTZ(3),

    CONSTRAINT "feature_flag_pkey" PRIMARY KEY ("id")
);

-- A deleted flag keeps its row, and does not keep its key from others.
CREATE UNIQUE INDEX "feature_flag_live_key" ON "feature_flag"("project_id", "key") WHERE NOT "deleted";
CREATE INDEX "feature_flag_project_id_created_at_id_idx" ON "feature_flag"("project_id", "created_at", "id");
CREATE INDEX "feature_flag_created_by_id_idx" ON "feature_flag"("created_by_id");
CREATE INDEX "feature_flag_last_modified_by_id_idx" ON "feature_flag"("last_modified_by_id");

CREATE TABLE "cohort" (
    "id" SERIAL NOT NULL,
    "project_id" INTEGER NOT NULL,
    "name" TEXT,
    "description" TEXT NOT NULL DEFAULT '',
    "groups" JSONB NOT NULL DEFAULT '[]',
    "filters" JSONB,
    "query" JSONB,
    "is_static" BOOLEAN NOT NULL DEFAULT false,
    "cohort_type" TEXT,
    "deleted" BOOLEAN NOT NULL DEFAULT false,
    "version" INTEGER NOT NULL DEFAULT 1,
    "count" INTEGER,
    -- When the delivery worker counts its persons next; null: not until it is changed.
    "calculate_at" TIMESTAMPTZ(3),
    "last_calculation" TIMESTAMPTZ(3),
    "errors_calculating" INTEGER NOT NULL DEFAULT 0,
    "created_by_id" INTEGER,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "cohort_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "cohort_project_id_created_at_id_idx" ON "cohort"("project_id", "created_at", "id");
CREATE INDEX "cohort_calculate_at_idx" ON "cohort"("calculate_at");
CREATE INDEX "cohort_created_by_id_idx" ON "cohort"("created_by_id");

CREATE TABLE "cohort_calculation" (
    "id" UUID NOT NULL,
    "cohort_id" INTEGER NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),
    "count" INTEGER,
    "error" TEXT,

    CONSTRAINT "cohort_calculation_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "cohort_calculation_cohort_id_started_at_id_idx" ON "cohort_calculation"("cohort_id", "started_at", "id");

ALTER TABLE "cohort_calculation" ADD CONSTRAINT "cohort_calculation_cohort_id_fkey"
    FOREIGN KEY ("cohort_id") REFERENCES "cohort"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Members of static cohorts. Rows of persons: consumers write them on a merge, so they know no foreign keys.
CREATE TABLE "cohort_member" (
    "project_id" INTEGER NOT NULL,
    "cohort_id" INTEGER NOT NULL,
    "person_uuid" UUID NOT NULL,
    "added_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "cohort_member_pkey" PRIMARY KEY ("project_id", "cohort_id", "person_uuid")
);

CREATE INDEX "cohort_member_project_id_person_uuid_idx" ON "cohort_member"("project_id", "person_uuid");

-- The id a person's bucket of a flag is made of, where the flag keeps the experience across authentication. Written once.
CREATE TABLE "feature_flag_hash_key" (
    "project_id" INTEGER NOT NULL,
    "person_uuid" UUID NOT NULL,
    "flag_key" TEXT NOT NULL,
    "hash_key" TEXT NOT NULL,

    CONSTRAINT "feature_flag_hash_key_pkey" PRIMARY KEY ("project_id", "person_uuid", "flag_key")
);

CREATE TABLE "early_access_feature" (
    "id" UUID NOT NULL,
    "project_id" INTEGER NOT NULL,
    "feature_flag_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "stage" TEXT NOT NULL,
    "documentation_url" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "early_access_feature_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "early_access_feature_feature_flag_id_key" ON "early_access_feature"("feature_flag_id");
CREATE INDEX "early_access_feature_project_id_created_at_id_idx" ON "early_access_feature"("project_id", "created_at", "id");

ALTER TABLE "early_access_feature" ADD CONSTRAINT "early_access_feature_feature_flag_id_fkey"
    FOREIGN KEY ("feature_flag_id") REFERENCES "feature_flag"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Secret keys (phs_) that read a project's definitions; only their hashes. A rolled key stays valid as the backup until
-- it is removed or the next roll.
CREATE TABLE "project_secret_key" (
    "project_id" INTEGER NOT NULL,
    "slot" TEXT NOT NULL,
    "secure_value" TEXT NOT NULL,
    "mask_value" TEXT NOT NULL,
    "created_by_id" INTEGER,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "project_secret_key_pkey" PRIMARY KEY ("project_id", "slot")
);

CREATE UNIQUE INDEX "project_secret_key_secure_value_key" ON "project_secret_key"("secure_value");
CREATE INDEX "project_secret_key_created_by_id_idx" ON "project_secret_key"("created_by_id");

ALTER TABLE "project_secret_key" ADD CONSTRAINT "project_secret_key_slot_check" CHECK ("slot" IN ('primary', 'backup'));

-- The version of all that an evaluation of a project's flags rests on: flags, dynamic cohorts, group types, time zone.
-- Triggers, so that no way of changing them can forget it; who keeps definitions in memory asks for newer versions only.
CREATE TABLE "flag_definitions_version" (
    "project_id" INTEGER NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 1,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "flag_definitions_version_pkey" PRIMARY KEY ("project_id")
);

CREATE INDEX "flag_definitions_version_changed_at_idx" ON "flag_definitions_version"("changed_at");

CREATE FUNCTION "notify_flags_change"("environment_id" INTEGER) RETURNS void LANGUAGE sql AS $$
    SELECT pg_notify('millrace_project_changes',
                     json_build_object('environment_id', "environment_id", 'tokens', '[]'::json, 'flags', true)::text)
$$;

-- Of an environment that is being deleted nothing is left to announce but its own end.
CREATE FUNCTION "next_flag_definitions_version"("environment_id" INTEGER) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "flag_definitions_version" AS held ("project_id", "changed_at")
         SELECT e."id", clock_timestamp() FROM "environment" e WHERE e."id" = "environment_id"
    ON CONFLICT ("project_id") DO UPDATE
            SET "version" = held."version" + 1, "changed_at" = EXCLUDED."changed_at";
    PERFORM "notify_flags_change"("environment_id");
END
$$;

CREATE FUNCTION "flag_definitions_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM "next_flag_definitions_version"(CASE WHEN TG_OP = 'DELETE' THEN OLD."project_id" ELSE NEW."project_id" END);
    RETURN NULL;
END
$$;

CREATE TRIGGER "feature_flag_added_or_removed" AFTER INSERT OR DELETE ON "feature_flag"
    FOR EACH ROW EXECUTE FUNCTION "flag_definitions_changed"();

-- Not for the time of its last call, which is no part of the definition.
CREATE TRIGGER "feature_flag_changed" AFTER UPDATE ON "feature_flag"
    FOR EACH ROW WHEN (OLD."last_called_at" IS NOT DISTINCT FROM NEW."last_called_at")
    EXECUTE FUNCTION "flag_definitions_changed"();

CREATE TRIGGER "cohort_added_or_removed" AFTER INSERT OR DELETE ON "cohort"
    FOR EACH ROW EXECUTE FUNCTION "flag_definitions_changed"();

-- Not for how many persons are in it.
CREATE TRIGGER "cohort_changed" AFTER UPDATE ON "cohort"
    FOR EACH ROW WHEN ((OLD."filters", OLD."groups", OLD."is_static", OLD."deleted")
      IS DISTINCT FROM (NEW."filters", NEW."groups", NEW."is_static", NEW."deleted"))
    EXECUTE FUNCTION "flag_definitions_changed"();

CREATE FUNCTION "flag_clocks_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM "next_flag_definitions_version"(NEW."id");
    RETURN NULL;
END
$$;

CREATE FUNCTION "announce_secret_key_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM "notify_flags_change"(CASE WHEN TG_OP = 'DELETE' THEN OLD."project_id" ELSE NEW."project_id" END);
    RETURN NULL;
END
$$;

CREATE TRIGGER "project_secret_key_changed" AFTER INSERT OR UPDATE OR DELETE ON "project_secret_key"
    FOR EACH ROW EXECUTE FUNCTION "announce_secret_key_change"();

-- Last, since they hold tables that services write, until the end of the script.
ALTER TABLE "feature_flag" ADD CONSTRAINT "feature_flag_project_id_fkey"
    FOREIGN KEY ("project_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "feature_flag" ADD CONSTRAINT "feature_flag_created_by_id_fkey"
    FOREIGN KEY ("created_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "feature_flag" ADD CONSTRAINT "feature_flag_last_modified_by_id_fkey"
    FOREIGN KEY ("last_modified_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "cohort" ADD CONSTRAINT "cohort_project_id_fkey"
    FOREIGN KEY ("project_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "cohort" ADD CONSTRAINT "cohort_created_by_id_fkey"
    FOREIGN KEY ("created_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "early_access_feature" ADD CONSTRAINT "early_access_feature_project_id_fkey"
    FOREIGN KEY ("project_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "project_secret_key" ADD CONSTRAINT "project_secret_key_project_id_fkey"
    FOREIGN KEY ("project_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "project_secret_key" ADD CONSTRAINT "project_secret_key_created_by_id_fkey"
    FOREIGN KEY ("created_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "flag_definitions_version" ADD CONSTRAINT "flag_definitions_version_project_id_fkey"
    FOREIGN KEY ("project_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TRIGGER "group_type_changed" AFTER INSERT OR UPDATE OR DELETE ON "group_type_mapping"
    FOR EACH ROW EXECUTE FUNCTION "flag_definitions_changed"();

CREATE TRIGGER "environment_clocks_changed" AFTER UPDATE OF "timezone" ON "environment"
    FOR EACH ROW WHEN (OLD."timezone" <> NEW."timezone") EXECUTE FUNCTION "flag_clocks_changed"();
