-- Settings of an environment (docs/api-rules.md#settings) -------------------------------------------------------------
-- One column per setting, so that a change of one setting is one statement that touches no other. All are added with a
-- constant default or none: no table is rewritten.

ALTER TABLE "environment"
    ADD COLUMN "app_urls" JSONB NOT NULL DEFAULT '[]',
    ADD COLUMN "slack_incoming_webhook" TEXT,
    ADD COLUMN "test_account_filters" JSONB NOT NULL DEFAULT '[]',
    ADD COLUMN "test_account_filters_default_checked" BOOLEAN,
    ADD COLUMN "path_cleaning_filters" JSONB DEFAULT '[]',
    ADD COLUMN "data_attributes" JSONB DEFAULT '["data-attr"]',
    ADD COLUMN "person_display_name_properties" JSONB,
    ADD COLUMN "correlation_config" JSONB DEFAULT '{}',
    ADD COLUMN "autocapture_opt_out" BOOLEAN,
    ADD COLUMN "autocapture_exceptions_opt_in" BOOLEAN,
    ADD COLUMN "autocapture_web_vitals_opt_in" BOOLEAN,
    ADD COLUMN "autocapture_web_vitals_allowed_metrics" JSONB,
    ADD COLUMN "autocapture_exceptions_errors_to_ignore" JSONB,
    ADD COLUMN "capture_console_log_opt_in" BOOLEAN DEFAULT true,
    ADD COLUMN "capture_performance_opt_in" BOOLEAN DEFAULT true,
    ADD COLUMN "session_recording_opt_in" BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN "session_recording_sample_rate" DECIMAL(3,2),
    ADD COLUMN "session_recording_minimum_duration_milliseconds" INTEGER,
    ADD COLUMN "session_recording_linked_flag" JSONB,
    ADD COLUMN "session_recording_network_payload_capture_config" JSONB,
    ADD COLUMN "session_recording_url_trigger_config" JSONB DEFAULT '[]',
    ADD COLUMN "session_recording_url_blocklist_config" JSONB DEFAULT '[]',
    ADD COLUMN "session_recording_event_trigger_config" JSONB DEFAULT '[]',
    ADD COLUMN "session_replay_config" JSONB,
    ADD COLUMN "survey_config" JSONB,
    ADD COLUMN "week_start_day" INTEGER,
    ADD COLUMN "primary_dashboard" INTEGER,
    ADD COLUMN "live_events_columns" JSONB,
    ADD COLUMN "recording_domains" JSONB,
    ADD COLUMN "cookieless_server_hash_mode" INTEGER DEFAULT 0,
    ADD COLUMN "human_friendly_comparison_periods" BOOLEAN DEFAULT false,
    ADD COLUMN "inject_web_apps" BOOLEAN,
    ADD COLUMN "extra_settings" JSONB,
    ADD COLUMN "modifiers" JSONB,
    ADD COLUMN "surveys_opt_in" BOOLEAN,
    ADD COLUMN "heatmaps_opt_in" BOOLEAN,
    ADD COLUMN "flags_persistence_default" BOOLEAN DEFAULT false,
    ADD COLUMN "capture_dead_clicks" BOOLEAN DEFAULT false,
    ADD COLUMN "default_data_theme" INTEGER;

-- Who may use a private environment (access_control) although only a member of the organization -------------------------
-- (docs/api-rules.md#levels). Administrators and owners need no row.

CREATE TABLE "environment_member" (
    "environment_id" INTEGER NOT NULL,
    "membership_id" UUID NOT NULL,
    -- 1 member, 8 administrator of this environment.
    "level" INTEGER NOT NULL,
    "created_by_id" INTEGER,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "environment_member_pkey" PRIMARY KEY ("environment_id", "membership_id")
);
CREATE INDEX "environment_member_membership_id_idx" ON "environment_member"("membership_id");
ALTER TABLE "environment_member" ADD CONSTRAINT "environment_member_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "environment_member" ADD CONSTRAINT "environment_member_membership_id_fkey" FOREIGN KEY ("membership_id") REFERENCES "membership"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "environment_member" ADD CONSTRAINT "environment_member_created_by_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- What people said they want to use (docs/api-rules.md#product-intents) -----------------------------------------------

CREATE TABLE "product_intent" (
    "environment_id" INTEGER NOT NULL,
    "product_type" TEXT NOT NULL,
    -- How often each context was named: {"onboarding": 2}.
    "contexts" JSONB NOT NULL DEFAULT '{}',
    "onboarding_completed_at" TIMESTAMPTZ(6),
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "product_intent_pkey" PRIMARY KEY ("environment_id", "product_type")
);
ALTER TABLE "product_intent" ADD CONSTRAINT "product_intent_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Who changed what (docs/api-rules.md#activity) -----------------------------------------------------------------------

CREATE TABLE "activity_log" (
    "id" UUID NOT NULL,
    -- No foreign keys: the record outlives what it is about. Null for what belongs to a person, e.g. a key.
    "organization_id" UUID,
    "environment_id" INTEGER,
    "user_id" INTEGER,
    -- Kind of the changed record (Project, Team, Organization, ...), its id and what happened to it.
    "scope" TEXT NOT NULL,
    "item_id" TEXT NOT NULL,
    "activity" TEXT NOT NULL,
    -- {name, short_id, type, trigger, changes: null or [{type, action, field, before, after}]}; no secrets.
    "detail" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "activity_log_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "activity_log_scope_item_id_created_at_id_idx" ON "activity_log"("scope", "item_id", "created_at", "id");
CREATE INDEX "activity_log_organization_id_created_at_id_idx" ON "activity_log"("organization_id", "created_at", "id");
CREATE INDEX "activity_log_user_id_idx" ON "activity_log"("user_id");
ALTER TABLE "activity_log" ADD CONSTRAINT "activity_log_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- Ingested data of deleted environments, still to be removed ------------------------------------------------------------
-- Written with every deleted environment, whoever deletes it and however (a cascade included).

CREATE TABLE "environment_cleanup" (
    "environment_id" INTEGER NOT NULL,
    "deleted_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    -- Not earlier: consumers that read the key a moment ago may still store events of it.
    "not_before" TIMESTAMPTZ(6) NOT NULL DEFAULT (now() + interval '5 minutes'),
    CONSTRAINT "environment_cleanup_pkey" PRIMARY KEY ("environment_id")
);
CREATE INDEX "environment_cleanup_not_before_idx" ON "environment_cleanup"("not_before");

CREATE FUNCTION "request_environment_cleanup"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "environment_cleanup" ("environment_id") VALUES (OLD."id") ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER "environment_deleted" AFTER DELETE ON "environment"
    FOR EACH ROW EXECUTE FUNCTION "request_environment_cleanup"();
