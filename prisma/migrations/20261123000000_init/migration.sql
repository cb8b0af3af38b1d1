-- Accounts ------------------------------------------------------------------------------------------------------------

CREATE TABLE "organization" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    -- List of {key, name}: the features of the organization's plan (docs/api/organizations.md#plans).
    "available_product_features" JSONB NOT NULL DEFAULT '[]',
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    -- Unique name for URLs. The program that creates the row derives it from the name; the default is only a fallback.
    "slug" TEXT NOT NULL DEFAULT (gen_random_uuid())::text,
    "logo_media_id" UUID,
    "is_member_join_email_enabled" BOOLEAN NOT NULL DEFAULT true,
    "enforce_2fa" BOOLEAN,
    "members_can_invite" BOOLEAN NOT NULL DEFAULT true,
    "members_can_use_personal_api_keys" BOOLEAN NOT NULL DEFAULT true,
    "allow_publicly_shared_resources" BOOLEAN NOT NULL DEFAULT true,
    "default_anonymize_ips" BOOLEAN NOT NULL DEFAULT false,
    CONSTRAINT "organization_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "user" (
    "id" SERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "distinct_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "first_name" TEXT NOT NULL DEFAULT '',
    "last_name" TEXT NOT NULL DEFAULT '',
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "is_email_verified" BOOLEAN NOT NULL DEFAULT false,
    "hedgehog_config" JSONB,
    "role_at_organization" TEXT NOT NULL DEFAULT '',
    "last_login" TIMESTAMPTZ(6),
    -- Whether a passkey is required after a password.
    "passkeys_enabled_for_2fa" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    -- The meaning of `@current`. No foreign keys: a deleted or inaccessible value is ignored when it is read.
    "current_organization_id" UUID,
    "current_environment_id" INTEGER,
    CONSTRAINT "user_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "user_uuid_key" ON "user"("uuid");
CREATE UNIQUE INDEX "user_email_key" ON "user"("email");

CREATE TABLE "membership" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "user_id" INTEGER NOT NULL,
    -- 1 member, 8 administrator, 15 owner.
    "level" INTEGER NOT NULL DEFAULT 1,
    "joined_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "membership_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "membership_organization_id_user_id_key" ON "membership"("organization_id", "user_id");
CREATE INDEX "membership_user_id_idx" ON "membership"("user_id");
ALTER TABLE "membership" ADD CONSTRAINT "membership_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "membership" ADD CONSTRAINT "membership_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "personal_api_key" (
    "id" TEXT NOT NULL,
    "user_id" INTEGER NOT NULL,
    "label" TEXT NOT NULL,
    -- Hexadecimal SHA-256 of the key. The key itself is shown once and not stored.
    "secure_value" TEXT NOT NULL,
    "mask_value" TEXT NOT NULL,
    "scopes" TEXT[] NOT NULL,
    "scoped_teams" INTEGER[] NOT NULL DEFAULT ARRAY[]::INTEGER[],
    "scoped_organizations" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(6),
    "last_rolled_at" TIMESTAMPTZ(6),
    "expires_at" TIMESTAMPTZ(6),
    CONSTRAINT "personal_api_key_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "personal_api_key_secure_value_key" ON "personal_api_key"("secure_value");
CREATE INDEX "personal_api_key_user_id_idx" ON "personal_api_key"("user_id");
ALTER TABLE "personal_api_key" ADD CONSTRAINT "personal_api_key_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A separate table, so that queries for users do not read it.
CREATE TABLE "user_password" (
    "user_id" INTEGER NOT NULL,
    -- `$scrypt$ln=17,r=8,p=1$<salt>$<hash>`. Includes the method and its cost, so that both can change.
    "hash" TEXT NOT NULL,
    "changed_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "user_password_pkey" PRIMARY KEY ("user_id")
);
ALTER TABLE "user_password" ADD CONSTRAINT "user_password_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Sessions, until sign-out or expiry (docs/api/sign-in.md).
CREATE TABLE "session" (
    -- For lists. The cookie contains a separate token, of which only the hash is stored.
    "id" UUID NOT NULL,
    -- Hexadecimal SHA-256 of the token in the cookie.
    "token_hash" TEXT NOT NULL,
    "user_id" INTEGER NOT NULL,
    -- password, passkey, link, invite, or a provider: saml, oidc, google-oauth2, github, gitlab.
    "method" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "browser" TEXT NOT NULL,
    -- The second factor that was used: totp, backup_code, passkey, device or link. Null if none.
    "second_factor" TEXT,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    -- When the user last authenticated.
    "signed_in_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    -- Updated at most every five minutes.
    "last_seen_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(6) NOT NULL,
    CONSTRAINT "session_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "session_token_hash_key" ON "session"("token_hash");
CREATE INDEX "session_user_id_idx" ON "session"("user_id");
ALTER TABLE "session" ADD CONSTRAINT "session_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Browsers in which a user has signed in before. Failed sign-ins elsewhere do not slow these down.
CREATE TABLE "known_device" (
    -- Hexadecimal SHA-256 of the token in the cookie.
    "token_hash" TEXT NOT NULL,
    "user_id" INTEGER NOT NULL,
    -- When the user last entered a second factor that this browser may remember. Null if it must not be remembered.
    "second_factor_at" TIMESTAMPTZ(6),
    "expires_at" TIMESTAMPTZ(6) NOT NULL,
    CONSTRAINT "known_device_pkey" PRIMARY KEY ("token_hash")
);
CREATE INDEX "known_device_user_id_idx" ON "known_device"("user_id");
ALTER TABLE "known_device" ADD CONSTRAINT "known_device_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Multi-step operations in progress, such as a sign-in between its two factors or a passkey challenge. Each is used
-- once.
CREATE TABLE "sign_in_step" (
    -- Hexadecimal SHA-256 of the token in the browser.
    "token_hash" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    -- Null while the user is not known yet.
    "user_id" INTEGER,
    "data" JSONB NOT NULL,
    "expires_at" TIMESTAMPTZ(6) NOT NULL,
    CONSTRAINT "sign_in_step_pkey" PRIMARY KEY ("token_hash")
);
CREATE INDEX "sign_in_step_user_id_idx" ON "sign_in_step"("user_id");
CREATE INDEX "sign_in_step_expires_at_idx" ON "sign_in_step"("expires_at");
ALTER TABLE "sign_in_step" ADD CONSTRAINT "sign_in_step_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Second factors (docs/api/second-factors.md).
CREATE TABLE "user_totp" (
    "user_id" INTEGER NOT NULL,
    -- Encrypted with SECRETS_KEY. Unencrypted only outside production, if no key is set.
    "secret" TEXT NOT NULL,
    -- Number of the 30-second step of the last accepted code, so that no code is accepted twice.
    "last_step" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "user_totp_pkey" PRIMARY KEY ("user_id")
);
ALTER TABLE "user_totp" ADD CONSTRAINT "user_totp_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;
CREATE TABLE "user_backup_code" (
    "user_id" INTEGER NOT NULL,
    -- Hexadecimal scrypt of the code without its hyphen, salted with the user.
    "code_hash" TEXT NOT NULL,
    CONSTRAINT "user_backup_code_pkey" PRIMARY KEY ("user_id","code_hash")
);
ALTER TABLE "user_backup_code" ADD CONSTRAINT "user_backup_code_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;
CREATE TABLE "passkey" (
    "id" UUID NOT NULL,
    "user_id" INTEGER NOT NULL,
    -- The credential id from the browser, base64url.
    "credential_id" TEXT NOT NULL,
    "public_key" BYTEA NOT NULL,
    -- The signature counter, or 0 for authenticators without one.
    "counter" BIGINT NOT NULL,
    "transports" TEXT[] NOT NULL,
    "label" TEXT NOT NULL,
    -- platform, hybrid, hardware or unknown.
    "authenticator_type" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(6),
    CONSTRAINT "passkey_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "passkey_credential_id_key" ON "passkey"("credential_id");
CREATE INDEX "passkey_user_id_idx" ON "passkey"("user_id");
ALTER TABLE "passkey" ADD CONSTRAINT "passkey_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Secrets of one-time links. A newer one of the same kind for the same user replaces it.
CREATE TABLE "one_time_link" (
    -- Hexadecimal SHA-256 of the secret.
    "token_hash" TEXT NOT NULL,
    -- sign_in, first_owner or reset_password.
    "kind" TEXT NOT NULL,
    -- Null for the first owner, whose account does not exist yet.
    "user_id" INTEGER,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(6) NOT NULL,
    CONSTRAINT "one_time_link_pkey" PRIMARY KEY ("token_hash")
);
CREATE INDEX "one_time_link_user_id_idx" ON "one_time_link"("user_id");
ALTER TABLE "one_time_link" ADD CONSTRAINT "one_time_link_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Projects and environments take their ids from one sequence. The first environment of a project has the id of the
-- project.
CREATE SEQUENCE "project_and_environment_id" AS INTEGER;

CREATE TABLE "project" (
    "id" INTEGER NOT NULL DEFAULT nextval('project_and_environment_id'::regclass),
    "organization_id" UUID NOT NULL,
    "name" TEXT NOT NULL DEFAULT 'Default project',
    "product_description" TEXT,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "project_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "project_organization_id_idx" ON "project"("organization_id");
ALTER TABLE "project" ADD CONSTRAINT "project_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "environment" (
    "id" INTEGER NOT NULL DEFAULT nextval('project_and_environment_id'::regclass),
    "uuid" UUID NOT NULL,
    "project_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL DEFAULT 'Default project',
    -- The project API key that SDKs send. It is public by design and stored readable.
    "api_token" TEXT NOT NULL,
    "completed_snippet_onboarding" BOOLEAN NOT NULL DEFAULT false,
    "has_completed_onboarding_for" JSONB,
    "ingested_event" BOOLEAN NOT NULL DEFAULT false,
    "is_demo" BOOLEAN NOT NULL DEFAULT false,
    "timezone" TEXT NOT NULL DEFAULT 'UTC',
    "access_control" BOOLEAN NOT NULL DEFAULT false,
    "anonymize_ips" BOOLEAN NOT NULL DEFAULT false,
    "person_processing_opt_out" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "app_urls" JSONB NOT NULL DEFAULT '[]',
    "slack_incoming_webhook" TEXT,
    "test_account_filters" JSONB NOT NULL DEFAULT '[]',
    "test_account_filters_default_checked" BOOLEAN,
    "path_cleaning_filters" JSONB DEFAULT '[]',
    "data_attributes" JSONB DEFAULT '["data-attr"]',
    "person_display_name_properties" JSONB,
    "correlation_config" JSONB DEFAULT '{}',
    "autocapture_opt_out" BOOLEAN,
    "autocapture_exceptions_opt_in" BOOLEAN,
    "autocapture_web_vitals_opt_in" BOOLEAN,
    "autocapture_web_vitals_allowed_metrics" JSONB,
    "autocapture_exceptions_errors_to_ignore" JSONB,
    "capture_console_log_opt_in" BOOLEAN DEFAULT true,
    "capture_performance_opt_in" BOOLEAN DEFAULT true,
    "session_recording_opt_in" BOOLEAN NOT NULL DEFAULT false,
    "session_recording_sample_rate" DECIMAL(3,2),
    "session_recording_minimum_duration_milliseconds" INTEGER,
    "session_recording_linked_flag" JSONB,
    "session_recording_network_payload_capture_config" JSONB,
    "session_recording_url_trigger_config" JSONB DEFAULT '[]',
    "session_recording_url_blocklist_config" JSONB DEFAULT '[]',
    "session_recording_event_trigger_config" JSONB DEFAULT '[]',
    "session_replay_config" JSONB,
    "survey_config" JSONB,
    "week_start_day" INTEGER,
    "primary_dashboard" INTEGER,
    "live_events_columns" JSONB,
    "recording_domains" JSONB,
    "cookieless_server_hash_mode" INTEGER DEFAULT 0,
    "human_friendly_comparison_periods" BOOLEAN DEFAULT false,
    "inject_web_apps" BOOLEAN,
    "extra_settings" JSONB,
    "modifiers" JSONB,
    "surveys_opt_in" BOOLEAN,
    "heatmaps_opt_in" BOOLEAN,
    "flags_persistence_default" BOOLEAN DEFAULT false,
    "capture_dead_clicks" BOOLEAN DEFAULT false,
    "default_data_theme" INTEGER,
    -- The level that the rule for everyone grants, `member` or `admin`. Null without such a rule. If the level is
    -- `none`, "access_control" is set.
    "default_access_level" TEXT,
    -- Events of the environment are deleted after this many days. Null: only the installation's limit applies.
    "event_retention_days" INTEGER,
    CONSTRAINT "environment_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "environment_uuid_key" ON "environment"("uuid");
CREATE UNIQUE INDEX "environment_api_token_key" ON "environment"("api_token");
CREATE INDEX "environment_project_id_idx" ON "environment"("project_id");
ALTER TABLE "environment" ADD CONSTRAINT "environment_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Ingested data -------------------------------------------------------------------------------------------------------
-- "project_id" below is the id of the environment that owns the data (environments and projects share one id space).
-- Every primary key begins with it, so that tables can be sharded by it. There are no foreign keys: rows are written in
-- sets by one writer whose lock order (event-consumer, ledger/store.ts) keeps them consistent, and a check per row
-- would cost more than the row.

CREATE TABLE "person" (
    "project_id" INTEGER NOT NULL,
    -- UUIDv5 of "<project_id>:<distinct id that created the person>".
    "uuid" UUID NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "main_distinct_id" TEXT NOT NULL,
    "properties" JSONB NOT NULL DEFAULT '{}',
    "is_identified" BOOLEAN NOT NULL DEFAULT false,
    "version" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(6) NOT NULL,
    -- Finds persons by email. A column, because with an index on the expression, each change of the properties would
    -- write to all indexes. Shortened, because an index entry can have about 2,700 bytes.
    "email_start" TEXT COLLATE "C" GENERATED ALWAYS AS (left(lower("properties"->>'email'), 320)) STORED,
    CONSTRAINT "person_pkey" PRIMARY KEY ("project_id", "uuid")
);
CREATE INDEX "person_email_start_idx" ON "person"("project_id", "email_start") WHERE "email_start" IS NOT NULL;
CREATE UNIQUE INDEX "person_project_id_id_key" ON "person"("project_id", "id");
CREATE INDEX "person_project_id_created_at_id_idx" ON "person"("project_id", "created_at", "id");

CREATE TABLE "person_distinct_id" (
    "project_id" INTEGER NOT NULL,
    "distinct_id" TEXT NOT NULL,
    "person_uuid" UUID NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,
    -- Display order of a person's ids after the main one.
    "id" BIGSERIAL NOT NULL,
    -- The first person from which the id was split off. Its UUID may be the one derived from the id.
    "split_from" UUID,
    CONSTRAINT "person_distinct_id_pkey" PRIMARY KEY ("project_id", "distinct_id")
);
CREATE INDEX "person_distinct_id_project_id_person_uuid_idx" ON "person_distinct_id"("project_id", "person_uuid");
-- Finds ids by their start, with any collation of the database.
CREATE INDEX "person_distinct_id_start_idx" ON "person_distinct_id"("project_id", "distinct_id" COLLATE "C");
-- Ids whose events may be stored under another person. Insight queries use it to find the current person of an event.
CREATE INDEX "person_distinct_id_moved_idx" ON "person_distinct_id"("project_id", "distinct_id") INCLUDE ("person_uuid") WHERE "version" > 0;

CREATE TABLE "group_type_mapping" (
    "project_id" INTEGER NOT NULL,
    "group_type" TEXT NOT NULL,
    -- 0 to 4.
    "group_type_index" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL,
    -- The singular and plural names that users gave to the type. The consumer does not write these columns.
    "name_singular" TEXT,
    "name_plural" TEXT,
    CONSTRAINT "group_type_mapping_pkey" PRIMARY KEY ("project_id", "group_type")
);
CREATE UNIQUE INDEX "group_type_mapping_project_id_group_type_index_key" ON "group_type_mapping"("project_id", "group_type_index");

CREATE TABLE "group" (
    "project_id" INTEGER NOT NULL,
    "group_type_index" INTEGER NOT NULL,
    "group_key" TEXT NOT NULL,
    "group_properties" JSONB NOT NULL DEFAULT '{}',
    "version" BIGINT NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(6) NOT NULL,
    CONSTRAINT "group_pkey" PRIMARY KEY ("project_id", "group_type_index", "group_key")
);

-- Range-partitioned by month of "timestamp". The event consumer creates months on demand. One partition contains
-- everything before 2015. Retention drops partitions.
CREATE TABLE "event" (
    "project_id" INTEGER NOT NULL,
    "timestamp" TIMESTAMPTZ(3) NOT NULL,
    "uuid" UUID NOT NULL,
    "event" TEXT NOT NULL,
    "distinct_id" TEXT NOT NULL,
    -- The person at the time of ingestion. The current person is found through person_distinct_id.
    "person_id" UUID NOT NULL,
    "person_created_at" TIMESTAMPTZ(3),
    "person_properties" JSONB NOT NULL DEFAULT '{}',
    -- 0 full, 1 propertyless, 2 force_upgrade (docs/ingestion-rules.md#the-event-row).
    "person_mode" SMALLINT NOT NULL DEFAULT 0,
    "properties" JSONB NOT NULL,
    "elements_chain" TEXT NOT NULL DEFAULT '',
    "historical_migration" BOOLEAN NOT NULL DEFAULT false,
    "captured_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "event_pkey" PRIMARY KEY ("project_id", "timestamp", "uuid")
) PARTITION BY RANGE ("timestamp");
CREATE INDEX "event_project_id_distinct_id_timestamp_idx" ON "event"("project_id", "distinct_id", "timestamp");
-- Insight queries without properties read only this index.
CREATE INDEX "event_project_id_event_timestamp_idx" ON "event"("project_id", "event", "timestamp") INCLUDE ("person_id", "distinct_id");
-- Finds the rows stored within an interval without reading the whole table, because rows are in the order of their
-- arrival.
CREATE INDEX "event_created_at_idx" ON "event" USING BRIN ("created_at");

CREATE TABLE "event_before_2015" PARTITION OF "event" FOR VALUES FROM (MINVALUE) TO ('2015-01-01T00:00:00Z');

-- One row per processed event, stored or dropped. It deduplicates events by UUID, even if a duplicate has a different
-- timestamp.
CREATE TABLE "event_identity" (
    "project_id" INTEGER NOT NULL,
    "uuid" UUID NOT NULL,
    "timestamp" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "event_identity_pkey" PRIMARY KEY ("project_id", "uuid")
);

CREATE TABLE "ingestion_warning" (
    "project_id" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    -- error: an event was dropped. warning: stored but changed, or partly rejected. info: intended.
    "severity" TEXT NOT NULL,
    "details" JSONB NOT NULL DEFAULT '{}',
    "count" INTEGER NOT NULL DEFAULT 1,
    "timestamp" TIMESTAMPTZ(3) NOT NULL,
    -- For clients that poll: rows that are stored later have a later time, regardless of "timestamp".
    "stored_at" TIMESTAMPTZ(6) NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "ingestion_warning_pkey" PRIMARY KEY ("project_id", "id")
);
CREATE INDEX "ingestion_warning_project_id_stored_at_idx" ON "ingestion_warning"("project_id", "stored_at");
CREATE INDEX "ingestion_warning_project_id_timestamp_id_idx" ON "ingestion_warning"("project_id", "timestamp", "id");

-- The log --------------------------------------------------------------------------------------------------------------

-- The embedded log (packages/event-log/src/postgres).
CREATE TABLE "event_log_partition" (
    "topic" TEXT NOT NULL,
    "partition" INTEGER NOT NULL,
    "next_offset" BIGINT NOT NULL DEFAULT 0,
    -- Identifies the log in PostgreSQL. New if the tables were emptied.
    "log_id" UUID NOT NULL DEFAULT gen_random_uuid(),
    CONSTRAINT "event_log_partition_pkey" PRIMARY KEY ("topic", "partition")
);

CREATE TABLE "event_log_record" (
    "topic" TEXT NOT NULL,
    "partition" INTEGER NOT NULL,
    "offset" BIGINT NOT NULL,
    "key" TEXT,
    "value" BYTEA NOT NULL,
    "headers" JSONB NOT NULL DEFAULT '{}',
    "appended_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "event_log_record_pkey" PRIMARY KEY ("topic", "partition", "offset")
);
CREATE INDEX "event_log_record_appended_at_idx" ON "event_log_record"("appended_at");

CREATE TABLE "event_log_member" (
    "topic" TEXT NOT NULL,
    "group" TEXT NOT NULL,
    "member_id" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "event_log_member_pkey" PRIMARY KEY ("topic", "group", "member_id")
);

CREATE TABLE "event_log_lease" (
    "topic" TEXT NOT NULL,
    "partition" INTEGER NOT NULL,
    "group" TEXT NOT NULL,
    "member_id" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "event_log_lease_pkey" PRIMARY KEY ("topic", "partition", "group")
);

-- Roles: groups of an organization's members that share access (docs/api/access.md#roles) -----------------------------

CREATE TABLE "role" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "created_by_id" INTEGER,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "role_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "role_organization_id_name_key" ON "role"("organization_id", lower("name"));
ALTER TABLE "role" ADD CONSTRAINT "role_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "role" ADD CONSTRAINT "role_created_by_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;

CREATE TABLE "role_membership" (
    "id" UUID NOT NULL,
    "role_id" UUID NOT NULL,
    "membership_id" UUID NOT NULL,
    "joined_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "role_membership_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "role_membership_role_id_membership_id_key" ON "role_membership"("role_id", "membership_id");
CREATE INDEX "role_membership_membership_id_idx" ON "role_membership"("membership_id");
ALTER TABLE "role_membership" ADD CONSTRAINT "role_membership_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "role"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "role_membership" ADD CONSTRAINT "role_membership_membership_id_fkey" FOREIGN KEY ("membership_id") REFERENCES "membership"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Access to an environment, to a kind of records in it, or to single records
-- (docs/api/access.md#access-to-an-environment). The default access to the environment itself is stored in its own
-- columns. Administrators and owners need no rule.

CREATE TABLE "access_rule" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "environment_id" INTEGER NOT NULL,
    -- `project` for the environment itself, otherwise a kind of record, such as `dashboard`.
    "resource" TEXT NOT NULL,
    -- One record. Null: all records of the kind.
    "resource_id" TEXT,
    -- Who the rule applies to: a member, a role, or everyone if both are null.
    "membership_id" UUID,
    "role_id" UUID,
    -- For the environment `none`, `member` or `admin`. For records `none`, `viewer`, `editor` or `manager`.
    "level" TEXT NOT NULL,
    "created_by_id" INTEGER,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "access_rule_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "access_rule_one_whom" CHECK ("membership_id" IS NULL OR "role_id" IS NULL)
);
CREATE UNIQUE INDEX "access_rule_key" ON "access_rule"("environment_id", "resource", "resource_id", "membership_id", "role_id") NULLS NOT DISTINCT;
CREATE INDEX "access_rule_membership_id_idx" ON "access_rule"("membership_id");
CREATE INDEX "access_rule_role_id_idx" ON "access_rule"("role_id");
ALTER TABLE "access_rule" ADD CONSTRAINT "access_rule_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "access_rule" ADD CONSTRAINT "access_rule_membership_id_fkey" FOREIGN KEY ("membership_id") REFERENCES "membership"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "access_rule" ADD CONSTRAINT "access_rule_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "role"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "access_rule" ADD CONSTRAINT "access_rule_created_by_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- Products that users said they want to use (docs/api/projects.md#product-intents) ------------------------------------

CREATE TABLE "product_intent" (
    "environment_id" INTEGER NOT NULL,
    "product_type" TEXT NOT NULL,
    -- How often each context was reported: {"onboarding": 2}.
    "contexts" JSONB NOT NULL DEFAULT '{}',
    "onboarding_completed_at" TIMESTAMPTZ(6),
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "product_intent_pkey" PRIMARY KEY ("environment_id", "product_type")
);
ALTER TABLE "product_intent" ADD CONSTRAINT "product_intent_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Activity log (docs/api/activity.md) ---------------------------------------------------------------------------------

CREATE TABLE "activity_log" (
    "id" UUID NOT NULL,
    -- No foreign keys, because the entry outlives its subject. Null for records of a user, such as a key.
    "organization_id" UUID,
    "environment_id" INTEGER,
    "user_id" INTEGER,
    -- Kind of the changed record (Project, Team, Organization, …), its id, and the action.
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
-- For the activity of one environment.
CREATE INDEX "activity_log_environment_id_created_at_id_idx" ON "activity_log" ("environment_id", "created_at", "id");
-- For deleting old entries.
CREATE INDEX "activity_log_created_at_idx" ON "activity_log" ("created_at");
ALTER TABLE "activity_log" ADD CONSTRAINT "activity_log_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- Ingested data of deleted environments that is still to be deleted ---------------------------------------------------
-- A row is written for every deleted environment, no matter which program deletes it, and also for cascades.

CREATE TABLE "environment_cleanup" (
    "environment_id" INTEGER NOT NULL,
    "deleted_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    -- The earliest time, because consumers that just read the key may still store events.
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

CREATE UNIQUE INDEX "organization_slug_key" ON "organization"("slug");

-- Domains (docs/api/domains.md) ---------------------------------------------------------------------------------

CREATE TABLE "organization_domain" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    -- Lower case. Unique in the whole installation.
    "domain" TEXT NOT NULL,
    -- The required content of the TXT record.
    "verification_challenge" TEXT NOT NULL,
    "verified_at" TIMESTAMPTZ(6),
    -- The last failed check. Not shown.
    "last_verification_retry" TIMESTAMPTZ(6),
    "jit_provisioning_enabled" BOOLEAN NOT NULL DEFAULT false,
    "sso_enforcement" TEXT NOT NULL DEFAULT '',
    "saml_entity_id" TEXT,
    "saml_acs_url" TEXT,
    "saml_x509_cert" TEXT,
    -- Whether a SAML response is accepted without a request, for sign-ins that begin on the provider's page.
    "saml_allow_unsolicited" BOOLEAN NOT NULL DEFAULT false,
    "oidc_issuer" TEXT,
    "oidc_client_id" TEXT,
    -- Encrypted with SECRETS_KEY. Unencrypted only outside production, if no key is set.
    "oidc_client_secret" TEXT,
    -- Owners with a second factor may use their password even if a provider is enforced.
    "sso_owner_exception" BOOLEAN NOT NULL DEFAULT false,
    -- Providers with which an administrator has signed in under the current configuration. Only these can be enforced.
    "sso_proved" TEXT[] NOT NULL DEFAULT '{}',
    -- The daily check of the TXT record of a verified domain: when it ran, and since when and how often the record was
    -- missing.
    "proof_checked_at" TIMESTAMPTZ(6),
    "proof_missing_since" TIMESTAMPTZ(6),
    "proof_misses" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    -- "domain" is unique: it contains the name for the organization that has verified it or, before that, added it
    -- first. If another organization adds the same name, the name is stored here, and "domain" contains the row's own
    -- id.
    "contested_name" TEXT,
    CONSTRAINT "organization_domain_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "organization_domain_domain_key" ON "organization_domain"("domain");
CREATE INDEX "organization_domain_organization_id_domain_idx" ON "organization_domain"("organization_id", "domain");
ALTER TABLE "organization_domain" ADD CONSTRAINT "organization_domain_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Single sign-on (docs/api/single-sign-on.md).
CREATE TABLE "provider_identity" (
    -- `google-oauth2`, `github`, `gitlab`, `oidc`, or for the provider of a domain `oidc:<id>` or `saml:<id>`.
    "provider" TEXT NOT NULL,
    -- The issuer, the entity ID of a SAML provider, or the URL of a GitHub server. Distinguishes a replaced provider.
    "issuer" TEXT NOT NULL,
    -- The provider's identifier of the user.
    "subject" TEXT NOT NULL,
    "user_id" INTEGER NOT NULL,
    -- The domain whose provider it is, with which it is deleted. Null for the installation's providers.
    "domain_id" UUID,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "provider_identity_pkey" PRIMARY KEY ("provider", "issuer", "subject")
);
CREATE INDEX "provider_identity_user_id_idx" ON "provider_identity"("user_id");
CREATE INDEX "provider_identity_domain_id_idx" ON "provider_identity"("domain_id");
ALTER TABLE "provider_identity" ADD CONSTRAINT "provider_identity_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "provider_identity" ADD CONSTRAINT "provider_identity_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "organization_domain"("id") ON DELETE CASCADE ON UPDATE CASCADE;
-- Recent sign-in attempts with the provider of a domain.
CREATE TABLE "provider_try" (
    "id" UUID NOT NULL,
    "domain_id" UUID NOT NULL,
    "provider" TEXT NOT NULL,
    -- A test of the provider's configuration, which signs no user in.
    "is_test" BOOLEAN NOT NULL,
    -- Null if the sign-in or the test succeeded.
    "reason" TEXT,
    "detail" TEXT NOT NULL,
    "email" TEXT,
    -- Only for tests: the attributes that the provider returned.
    "attributes" JSONB,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "provider_try_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "provider_try_domain_id_created_at_idx" ON "provider_try"("domain_id", "created_at");
ALTER TABLE "provider_try" ADD CONSTRAINT "provider_try_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "organization_domain"("id") ON DELETE CASCADE ON UPDATE CASCADE;
-- SAML messages that were used. Kept for as long as they could be replayed.
CREATE TABLE "used_assertion" (
    -- Hexadecimal SHA-256 of the ids of the domain and of the message.
    "id_hash" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(6) NOT NULL,
    CONSTRAINT "used_assertion_pkey" PRIMARY KEY ("id_hash")
);
CREATE INDEX "used_assertion_expires_at_idx" ON "used_assertion"("expires_at");
-- SCIM provisioning (docs/api/scim.md): the provider's token, the users and groups that it manages with their external
-- ids, and its recent requests.
CREATE TABLE "scim_token" (
    "domain_id" UUID NOT NULL,
    -- Hexadecimal SHA-256.
    "token_hash" TEXT NOT NULL,
    -- The provider may remove owners and change their email addresses while this user is an owner.
    "created_by_id" INTEGER,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(6),
    CONSTRAINT "scim_token_pkey" PRIMARY KEY ("domain_id")
);
CREATE INDEX "scim_token_created_by_id_idx" ON "scim_token"("created_by_id");
ALTER TABLE "scim_token" ADD CONSTRAINT "scim_token_created_by_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "scim_token" ADD CONSTRAINT "scim_token_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "organization_domain"("id") ON DELETE CASCADE ON UPDATE CASCADE;
CREATE TABLE "scim_user" (
    "domain_id" UUID NOT NULL,
    "user_id" INTEGER NOT NULL,
    "external_id" TEXT,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "scim_user_pkey" PRIMARY KEY ("domain_id", "user_id")
);
CREATE INDEX "scim_user_user_id_idx" ON "scim_user"("user_id");
ALTER TABLE "scim_user" ADD CONSTRAINT "scim_user_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "organization_domain"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "scim_user" ADD CONSTRAINT "scim_user_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;
CREATE TABLE "scim_group" (
    "domain_id" UUID NOT NULL,
    "role_id" UUID NOT NULL,
    "external_id" TEXT NOT NULL,
    CONSTRAINT "scim_group_pkey" PRIMARY KEY ("domain_id", "role_id")
);
CREATE INDEX "scim_group_role_id_idx" ON "scim_group"("role_id");
ALTER TABLE "scim_group" ADD CONSTRAINT "scim_group_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "organization_domain"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "scim_group" ADD CONSTRAINT "scim_group_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "role"("id") ON DELETE CASCADE ON UPDATE CASCADE;
CREATE TABLE "scim_request" (
    "id" UUID NOT NULL,
    "domain_id" UUID NOT NULL,
    "method" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    -- The reason of a rejected request, otherwise empty.
    "detail" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "scim_request_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "scim_request_domain_id_created_at_idx" ON "scim_request"("domain_id", "created_at");
ALTER TABLE "scim_request" ADD CONSTRAINT "scim_request_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "organization_domain"("id") ON DELETE CASCADE ON UPDATE CASCADE;
-- Users who were removed from an organization and must not rejoin automatically.
CREATE TABLE "kept_out_address" (
    "organization_id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "kept_out_address_pkey" PRIMARY KEY ("organization_id", "email")
);
ALTER TABLE "kept_out_address" ADD CONSTRAINT "kept_out_address_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Invites (docs/api/invites.md) ---------------------------------------------------------------------------------

CREATE TABLE "organization_invite" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "target_email" TEXT NOT NULL,
    -- The address in lower case, for comparison with users and other invites.
    "email_key" TEXT NOT NULL,
    "first_name" TEXT NOT NULL DEFAULT '',
    "emailing_attempt_made" BOOLEAN NOT NULL DEFAULT false,
    -- Why the email was not accepted: the code of the mail server, or `unreachable`. Null if it was accepted or not
    -- sent yet.
    "mail_error" TEXT,
    -- 1 member, 8 administrator, 15 owner.
    "level" INTEGER NOT NULL DEFAULT 1,
    "created_by_id" INTEGER,
    "message" TEXT,
    -- List of {id: environment, level: 1 or 8}, or null.
    "private_project_access" JSONB,
    "send_email" BOOLEAN NOT NULL DEFAULT true,
    "combine_pending_invites" BOOLEAN NOT NULL DEFAULT false,
    -- Hexadecimal SHA-256 of the secret shown to the creator. That secret is the SHA-256 (base64url) of the one in the
    -- email. Either allows a sign-up with the address.
    "token_hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    -- The limits of the key that created the invite. The first key of the invited user has the same limits.
    "key_scopes" TEXT[] NOT NULL DEFAULT '{}',
    "is_key_limited" BOOLEAN NOT NULL DEFAULT false,
    "key_expires_at" TIMESTAMPTZ(6),
    CONSTRAINT "organization_invite_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "organization_invite_organization_id_email_key_key" ON "organization_invite"("organization_id", "email_key");
CREATE INDEX "organization_invite_organization_id_created_at_id_idx" ON "organization_invite"("organization_id", "created_at", "id");
CREATE INDEX "organization_invite_email_key_idx" ON "organization_invite"("email_key");
CREATE INDEX "organization_invite_created_by_id_idx" ON "organization_invite"("created_by_id");
ALTER TABLE "organization_invite" ADD CONSTRAINT "organization_invite_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "organization_invite" ADD CONSTRAINT "organization_invite_created_by_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- The order of the member list.
CREATE INDEX "membership_organization_id_joined_at_id_idx" ON "membership"("organization_id", "joined_at", "id");

-- Subscriptions -------------------------------------------------------------------------------------------------------

CREATE TABLE "subscription" (
    "id" SERIAL NOT NULL,
    "environment_id" INTEGER NOT NULL,
    -- The subject of reports. No foreign keys: if it was deleted, a last report says so.
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
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    -- The insights of the dashboard that reports include. Empty: the first six.
    "dashboard_export_insights" INTEGER[] NOT NULL DEFAULT '{}',
    "created_by_id" INTEGER,
    -- Null if the rule has ended or the subscription is disabled. The worker creates due deliveries and updates it in
    -- one transaction.
    "next_delivery_date" TIMESTAMPTZ(6),
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "subscription_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "subscription_environment_id_id_idx" ON "subscription"("environment_id", "id");
CREATE INDEX "subscription_next_delivery_date_idx" ON "subscription"("next_delivery_date");
CREATE INDEX "subscription_created_by_id_idx" ON "subscription"("created_by_id");

-- One report to one target. Created in the transaction that causes it, so that none is lost or duplicated.
CREATE TABLE "subscription_delivery" (
    "id" UUID NOT NULL,
    "subscription_id" INTEGER NOT NULL,
    -- scheduled, created, target_changed.
    "occasion" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(6) NOT NULL,
    -- One email address, or the complete target_value.
    "target" TEXT NOT NULL,
    "invite_message" TEXT,
    -- pending, delivered, failed, cancelled.
    "status" TEXT NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    -- When the next attempt may start. During an attempt, when it is considered dead.
    "attempt_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "error" TEXT,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(6),
    -- Part of the unsubscribe link in an email. Not shown anywhere else.
    "unsubscribe_id" UUID NOT NULL DEFAULT gen_random_uuid(),
    CONSTRAINT "subscription_delivery_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "subscription_delivery_unsubscribe_id_key" ON "subscription_delivery"("unsubscribe_id");
CREATE UNIQUE INDEX "subscription_delivery_subscription_id_occasion_due_at_targe_key" ON "subscription_delivery"("subscription_id", "occasion", "due_at", "target");
CREATE INDEX "subscription_delivery_subscription_id_created_at_id_idx" ON "subscription_delivery"("subscription_id", "created_at", "id");
CREATE INDEX "subscription_delivery_status_attempt_at_idx" ON "subscription_delivery"("status", "attempt_at");
ALTER TABLE "subscription_delivery" ADD CONSTRAINT "subscription_delivery_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscription"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The content of a report, computed once per due date for all targets.
CREATE TABLE "subscription_report" (
    -- Unguessable, because it gives access to the images.
    "id" UUID NOT NULL,
    "subscription_id" INTEGER NOT NULL,
    "due_at" TIMESTAMPTZ(6) NOT NULL,
    -- Null while it is being computed.
    "content" JSONB,
    "attempts" INTEGER NOT NULL DEFAULT 1,
    -- When the computing process is considered dead.
    "attempt_at" TIMESTAMPTZ(6) NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "subscription_report_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "subscription_report_subscription_id_due_at_key" ON "subscription_report"("subscription_id", "due_at");
CREATE INDEX "subscription_report_created_at_idx" ON "subscription_report"("created_at");
ALTER TABLE "subscription_report" ADD CONSTRAINT "subscription_report_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscription"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Batch exports -------------------------------------------------------------------------------------------------------

CREATE TABLE "batch_export" (
    "id" UUID NOT NULL,
    "environment_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "model" TEXT NOT NULL DEFAULT 'events',
    "destination_type" TEXT NOT NULL,
    -- The visible part of the configuration. Secrets are stored separately, so that queries for responses do not read
    -- them.
    "destination_config" JSONB NOT NULL DEFAULT '{}',
    "destination_secrets" JSONB NOT NULL DEFAULT '{}',
    -- Event filters as sent by the client.
    "filters" JSONB,
    -- The query that names the exported columns, as packages/insights has read it; null exports all fields.
    "query" JSONB,
    "interval" TEXT NOT NULL,
    -- The time zone for days and weeks. By default the environment's time zone when the export was created.
    "timezone" TEXT NOT NULL DEFAULT 'UTC',
    "offset_day" INTEGER,
    "offset_hour" INTEGER,
    "paused" BOOLEAN NOT NULL DEFAULT false,
    "last_paused_at" TIMESTAMPTZ(6),
    "start_at" TIMESTAMPTZ(6),
    "end_at" TIMESTAMPTZ(6),
    -- The next interval to export. Both are null if no more intervals follow.
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
    -- <export id>-Backfill-<start>-<end>, so that a repeated request for the same range does not create a second
    -- backfill.
    "id" TEXT NOT NULL,
    "batch_export_id" UUID NOT NULL,
    "start_at" TIMESTAMPTZ(6) NOT NULL,
    "end_at" TIMESTAMPTZ(6) NOT NULL,
    -- Running, Completed, Failed, Cancelled.
    "status" TEXT NOT NULL DEFAULT 'Running',
    -- The position up to which runs were created. Null when all were created.
    "next_interval_start" TIMESTAMPTZ(6),
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(6),
    "last_updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    -- Exports the events that were stored in the range, whatever their own timestamps. Used for data missed during a
    -- pause.
    "by_stored_time" BOOLEAN NOT NULL DEFAULT false,
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
    -- Set for completed runs.
    "bytes_exported" BIGINT,
    "latest_error" TEXT,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    -- As in "subscription_delivery".
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

ALTER TABLE "subscription" ADD CONSTRAINT "subscription_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "subscription" ADD CONSTRAINT "subscription_created_by_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "batch_export" ADD CONSTRAINT "batch_export_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Operator rules for the events of a project API key, or of one of its distinct ids. Gateways read the whole table
-- every few seconds, so it is meant for exceptions: hundreds of rows, not millions.
CREATE TABLE "ingestion_restriction" (
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    -- The key as sent by clients. No foreign key, because it may not belong to a project (any more).
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

-- The log to which gateways append while Kafka is down (packages/event-log/src/fallback) ------------------------------

CREATE TABLE "event_log_fallback" (
    -- The topic of the fallback log, one row for each installation that shares the database.
    "topic" TEXT NOT NULL,
    -- closed, opening, open or closing.
    "phase" TEXT NOT NULL DEFAULT 'closed',
    -- Increases by one each time the fallback is opened.
    "epoch" BIGINT NOT NULL DEFAULT 0,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "event_log_fallback_pkey" PRIMARY KEY ("topic")
);

CREATE TABLE "event_log_appender" (
    "topic" TEXT NOT NULL,
    "appender_id" UUID NOT NULL,
    "reaches_kafka" BOOLEAN NOT NULL,
    -- The last epoch for which this process has no records in flight to Kafka.
    "settled_epoch" BIGINT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "event_log_appender_pkey" PRIMARY KEY ("topic", "appender_id")
);

-- Operator decisions about dead letters, identified by the position of the record in its original topic.
CREATE TABLE "dead_letter_decision" (
    "topic" TEXT NOT NULL,
    "partition" INTEGER NOT NULL,
    "offset" BIGINT NOT NULL,
    "decision" TEXT NOT NULL,
    "decided_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "dead_letter_decision_pkey" PRIMARY KEY ("topic", "partition", "offset"),
    CONSTRAINT "dead_letter_decision_decision_check" CHECK ("decision" IN ('replayed', 'discarded'))
);

-- The event names and properties that a project has sent. Collected from a sample, and written at most once an hour for
-- each. The columns from "description" on are set by users and written only by the API.
CREATE TABLE "event_definition" (
    "project_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    -- Both are null while a user has defined the event but none has arrived.
    "created_at" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3),
    "description" TEXT NOT NULL DEFAULT '',
    "tags" TEXT[] NOT NULL DEFAULT '{}',
    "hidden" BOOLEAN NOT NULL DEFAULT false,
    "verified" BOOLEAN NOT NULL DEFAULT false,
    "verified_at" TIMESTAMPTZ(3),
    "verified_by_id" INTEGER,
    "owner_id" INTEGER,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_by_id" INTEGER,

    CONSTRAINT "event_definition_pkey" PRIMARY KEY ("project_id", "name")
);

CREATE TABLE "property_definition" (
    "project_id" INTEGER NOT NULL,
    -- 1 event, 2 person, 3 group.
    "type" SMALLINT NOT NULL,
    -- For a group property, otherwise -1.
    "group_type_index" SMALLINT NOT NULL DEFAULT -1,
    "name" TEXT NOT NULL,
    -- DateTime, String, Numeric or Boolean, inferred from the first value whose type was clear. Null until then.
    "property_type" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "tags" TEXT[] NOT NULL DEFAULT '{}',
    "hidden" BOOLEAN NOT NULL DEFAULT false,
    "verified" BOOLEAN NOT NULL DEFAULT false,
    "verified_at" TIMESTAMPTZ(3),
    "verified_by_id" INTEGER,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_by_id" INTEGER,

    CONSTRAINT "property_definition_pkey" PRIMARY KEY ("project_id", "type", "group_type_index", "name")
);

-- For deleting a user. Few definitions refer to users, so the indexes stay small.
CREATE INDEX "event_definition_verified_by_id_idx" ON "event_definition"("verified_by_id") WHERE "verified_by_id" IS NOT NULL;
CREATE INDEX "event_definition_owner_id_idx" ON "event_definition"("owner_id") WHERE "owner_id" IS NOT NULL;
CREATE INDEX "event_definition_updated_by_id_idx" ON "event_definition"("updated_by_id") WHERE "updated_by_id" IS NOT NULL;
CREATE INDEX "property_definition_verified_by_id_idx" ON "property_definition"("verified_by_id") WHERE "verified_by_id" IS NOT NULL;
CREATE INDEX "property_definition_updated_by_id_idx" ON "property_definition"("updated_by_id") WHERE "updated_by_id" IS NOT NULL;
ALTER TABLE "event_definition" ADD CONSTRAINT "event_definition_verified_by_id_fkey"
    FOREIGN KEY ("verified_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "event_definition" ADD CONSTRAINT "event_definition_owner_id_fkey"
    FOREIGN KEY ("owner_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "event_definition" ADD CONSTRAINT "event_definition_updated_by_id_fkey"
    FOREIGN KEY ("updated_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "property_definition" ADD CONSTRAINT "property_definition_verified_by_id_fkey"
    FOREIGN KEY ("verified_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "property_definition" ADD CONSTRAINT "property_definition_updated_by_id_fkey"
    FOREIGN KEY ("updated_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- Every event with its current person. A merge changes the mapping and never the events, and an anonymous event belongs
-- to the person to which its distinct id was later assigned.
CREATE VIEW "event_with_person" AS
SELECT e."project_id", e."timestamp", e."uuid", e."event", e."distinct_id", e."properties", e."elements_chain",
       e."person_mode", e."historical_migration", e."captured_at", e."created_at",
       COALESCE(d."person_uuid", e."person_id") AS "person_id",
       p."main_distinct_id" AS "person_main_distinct_id",
       p."properties" AS "person_properties",
       p."is_identified" AS "person_is_identified",
       p."created_at" AS "person_created_at"
  FROM "event" e
  LEFT JOIN "person_distinct_id" d ON d."project_id" = e."project_id" AND d."distinct_id" = e."distinct_id"
  LEFT JOIN "person" p ON p."project_id" = e."project_id" AND p."uuid" = COALESCE(d."person_uuid", e."person_id");

-- The number of members and projects of an organization. Lists return the total count on every page, and counting
-- 100,000 rows takes a thousand times as long as the page itself. Triggers update it for every membership and project,
-- including cascades. Neither ever moves to another organization.

CREATE TABLE "organization_size" (
    "organization_id" UUID NOT NULL,
    -- Includes inactive users. They are few and subtracted when read.
    "members" INTEGER NOT NULL DEFAULT 0,
    "projects" INTEGER NOT NULL DEFAULT 0,
    CONSTRAINT "organization_size_pkey" PRIMARY KEY ("organization_id")
);
ALTER TABLE "organization_size" ADD CONSTRAINT "organization_size_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE FUNCTION "add_to_organization_size"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    is_members CONSTANT BOOLEAN := TG_TABLE_NAME = 'membership';
BEGIN
    -- A fixed order prevents deadlocks.
    INSERT INTO "organization_size" AS size ("organization_id", "members", "projects")
    SELECT "organization_id", CASE WHEN is_members THEN count(*) ELSE 0 END, CASE WHEN is_members THEN 0 ELSE count(*) END
      FROM changed GROUP BY "organization_id" ORDER BY "organization_id"
    ON CONFLICT ("organization_id") DO UPDATE
       SET "members" = size."members" + EXCLUDED."members", "projects" = size."projects" + EXCLUDED."projects";
    RETURN NULL;
END
$$;

CREATE FUNCTION "take_from_organization_size"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    is_members CONSTANT BOOLEAN := TG_TABLE_NAME = 'membership';
BEGIN
    -- The row may already be deleted with its organization.
    PERFORM 1 FROM "organization_size" WHERE "organization_id" IN (SELECT "organization_id" FROM changed)
      ORDER BY "organization_id" FOR UPDATE;
    UPDATE "organization_size" AS size
       SET "members" = size."members" - CASE WHEN is_members THEN gone.number ELSE 0 END,
           "projects" = size."projects" - CASE WHEN is_members THEN 0 ELSE gone.number END
      FROM (SELECT "organization_id", count(*) AS number FROM changed GROUP BY "organization_id") AS gone
     WHERE size."organization_id" = gone."organization_id";
    RETURN NULL;
END
$$;

CREATE TRIGGER "membership_added" AFTER INSERT ON "membership" REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION "add_to_organization_size"();
CREATE TRIGGER "membership_removed" AFTER DELETE ON "membership" REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION "take_from_organization_size"();
CREATE TRIGGER "project_added" AFTER INSERT ON "project" REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION "add_to_organization_size"();
CREATE TRIGGER "project_removed" AFTER DELETE ON "project" REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION "take_from_organization_size"();

-- Indexes for the sort orders of lists.
CREATE INDEX "user_is_active_id_idx" ON "user"("is_active", "id");
CREATE INDEX "membership_organization_id_updated_at_id_idx" ON "membership"("organization_id", "updated_at", "id");
CREATE INDEX "membership_organization_id_level_id_idx" ON "membership"("organization_id", "level", "id");
CREATE INDEX "project_organization_id_id_idx" ON "project"("organization_id", "id");

-- Consumer positions: a stored offset belongs to one log --------------------------------------------------------------

-- The position at which a consumer group continues in one log. Written in the transaction that stores the effects of
-- the preceding records.
CREATE TABLE "consumer_offset" (
    "topic" TEXT NOT NULL,
    "partition" INTEGER NOT NULL,
    "group" TEXT NOT NULL,
    -- Kafka cluster and topic, or the partition's log_id in PostgreSQL. A different value is a different log.
    "log" TEXT NOT NULL,
    "next_offset" BIGINT NOT NULL,
    -- Offset, time and checksum of the record before next_offset. A different record at that offset means that the log
    -- was truncated.
    "last_record_fingerprint" TEXT,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "consumer_offset_pkey" PRIMARY KEY ("topic", "partition", "group", "log")
);

-- How many emails an organization sent in the last clock hour in which it sent any. The limit applies to a clock hour.

CREATE TABLE "organization_mail_hour" (
    "organization_id" UUID NOT NULL,
    "hour" TIMESTAMPTZ(6) NOT NULL,
    "mails" INTEGER NOT NULL,
    CONSTRAINT "organization_mail_hour_pkey" PRIMARY KEY ("organization_id")
);
ALTER TABLE "organization_mail_hour" ADD CONSTRAINT "organization_mail_hour_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Replaced project API keys: for waiting records, they may be the only way to find the environment --------------------

CREATE TABLE "former_project_key" (
    "token" TEXT NOT NULL,
    "environment_id" INTEGER NOT NULL,
    "replaced_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "former_project_key_pkey" PRIMARY KEY ("token")
);

CREATE INDEX "former_project_key_environment_id_idx" ON "former_project_key"("environment_id");

ALTER TABLE "former_project_key" ADD CONSTRAINT "former_project_key_environment_id_fkey"
    FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A trigger, so that every change of a key is recorded: by the API, the CLI or direct SQL.

CREATE FUNCTION "keep_former_project_key"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "former_project_key" ("token", "environment_id", "replaced_at")
         VALUES (OLD."api_token", OLD."id", clock_timestamp())
    ON CONFLICT ("token") DO UPDATE
            SET "environment_id" = EXCLUDED."environment_id", "replaced_at" = EXCLUDED."replaced_at";
    RETURN NULL;
END
$$;

CREATE TRIGGER "environment_key_replaced" AFTER UPDATE OF "api_token" ON "environment"
    FOR EACH ROW WHEN (OLD."api_token" <> NEW."api_token") EXECUTE FUNCTION "keep_former_project_key"();

-- Notifications about changes of data that gateways and consumers cache (packages/contracts, project-changes.ts) ------

-- A message that does not fit into a notification becomes "anything may have changed".
CREATE FUNCTION "notify_project_change"("environment_id" INTEGER, "tokens" TEXT[]) RETURNS void LANGUAGE sql AS $$
    SELECT pg_notify('millrace_project_changes', CASE WHEN octet_length(message) < 7900 THEN message ELSE '{}' END)
      FROM (SELECT json_build_object('environment_id', "environment_id", 'tokens', "tokens")::text AS message) AS built
$$;

CREATE FUNCTION "announce_environment_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM "notify_project_change"(OLD."id", ARRAY[OLD."api_token"]);
    ELSIF TG_OP = 'INSERT' OR NEW."api_token" = OLD."api_token" THEN
        PERFORM "notify_project_change"(NEW."id", ARRAY[NEW."api_token"]);
    ELSE
        PERFORM "notify_project_change"(NEW."id", ARRAY[OLD."api_token", NEW."api_token"]);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER "environment_added_or_removed" AFTER INSERT OR DELETE ON "environment"
    FOR EACH ROW EXECUTE FUNCTION "announce_environment_change"();

-- Ignores the flag for the first event, which consumers set and no cache depends on.
CREATE TRIGGER "environment_changed" AFTER UPDATE ON "environment"
    FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.* AND OLD."ingested_event" = NEW."ingested_event")
    EXECUTE FUNCTION "announce_environment_change"();

CREATE FUNCTION "announce_plan_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM "notify_project_change"(e."id", ARRAY[e."api_token"])
       FROM "environment" e JOIN "project" p ON p."id" = e."project_id"
      WHERE p."organization_id" = NEW."id";
    RETURN NULL;
END
$$;

CREATE TRIGGER "organization_plan_changed" AFTER UPDATE OF "available_product_features" ON "organization"
    FOR EACH ROW WHEN (OLD."available_product_features" IS DISTINCT FROM NEW."available_product_features")
    EXECUTE FUNCTION "announce_plan_change"();

CREATE FUNCTION "announce_restriction_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM "notify_project_change"(NULL, ARRAY[CASE WHEN TG_OP = 'DELETE' THEN OLD."token" ELSE NEW."token" END]);
    RETURN NULL;
END
$$;

CREATE TRIGGER "ingestion_restriction_changed" AFTER INSERT OR UPDATE OR DELETE ON "ingestion_restriction"
    FOR EACH ROW EXECUTE FUNCTION "announce_restriction_change"();

-- Salts for the ids of cookieless visitors (services/event-consumer/src/cookieless) -----------------------------------
-- One for each calendar day in any time zone. Once it is deleted, ids cannot be traced back to visitors.

CREATE TABLE "cookieless_salt" (
    "day" TEXT NOT NULL,
    "salt" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "cookieless_salt_pkey" PRIMARY KEY ("day")
);

-- Deleted persons -----------------------------------------------------------------------------------------------------
-- The person and its ids are deleted with the request. The delivery worker deletes the remaining data in portions.
-- Hashes of the deleted ids are kept for a while: events that still wait in the log must not restore the person, and an
-- id that is used again starts a new person.

CREATE TABLE "person_deletion" (
    "id" UUID NOT NULL,
    "project_id" INTEGER NOT NULL,
    "person_uuid" UUID NOT NULL,
    -- Otherwise events stay, without personal data.
    "delete_events" BOOLEAN NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    -- The first transaction that cannot have seen the person. Null until the worker first processes the row.
    "horizon" BIGINT,
    "attempt_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    -- The number of events deleted or stripped so far.
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
    -- The version of the deleted mapping.
    "version" BIGINT NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL,
    -- Null once all its data is deleted.
    "distinct_id" TEXT,
    -- Its events up to this time have been processed.
    "done_until" TIMESTAMPTZ(3),
    -- From the deleted mapping.
    "split_from" UUID,
    CONSTRAINT "deleted_distinct_id_pkey" PRIMARY KEY ("project_id", "id_hash", "deletion_id")
);
CREATE INDEX "deleted_distinct_id_deletion_id_idx" ON "deleted_distinct_id"("deletion_id");

-- Insights and dashboards. `project_id` is the id of the environment that owns the data -------------------------------

-- JSON from clients is stored as JSON instead of JSONB, to keep the order of keys.
CREATE TABLE "insight" (
    "id" SERIAL NOT NULL,
    "project_id" INTEGER NOT NULL,
    "short_id" TEXT NOT NULL,
    "name" TEXT,
    "derived_name" TEXT,
    "description" TEXT,
    "query" JSON,
    "order" INTEGER,
    "deleted" BOOLEAN NOT NULL DEFAULT false,
    "saved" BOOLEAN NOT NULL DEFAULT false,
    "favorited" BOOLEAN NOT NULL DEFAULT false,
    "tags" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "created_by_id" INTEGER,
    "last_modified_by_id" INTEGER,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    -- When name, description or query last changed.
    "last_modified_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "insight_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "insight_project_id_short_id_key" ON "insight"("project_id", "short_id");
CREATE INDEX "insight_project_id_id_idx" ON "insight"("project_id", "id");
CREATE INDEX "insight_created_by_id_idx" ON "insight"("created_by_id");
CREATE INDEX "insight_last_modified_by_id_idx" ON "insight"("last_modified_by_id");

CREATE TABLE "insight_view" (
    "insight_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "last_viewed_at" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "insight_view_pkey" PRIMARY KEY ("insight_id", "user_id")
);

CREATE INDEX "insight_view_user_id_last_viewed_at_idx" ON "insight_view"("user_id", "last_viewed_at");

CREATE TABLE "dashboard" (
    "id" SERIAL NOT NULL,
    "project_id" INTEGER NOT NULL,
    "name" TEXT,
    "description" TEXT NOT NULL DEFAULT '',
    "pinned" BOOLEAN NOT NULL DEFAULT false,
    "deleted" BOOLEAN NOT NULL DEFAULT false,
    "creation_mode" TEXT NOT NULL DEFAULT 'default',
    "filters" JSON NOT NULL DEFAULT '{}',
    "variables" JSON,
    "tags" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    -- 21: all project members may edit it. 37: only the creator and administrators.
    "restriction_level" INTEGER NOT NULL DEFAULT 21,
    "breakdown_colors" JSON,
    "data_color_theme_id" INTEGER,
    "quick_filter_ids" JSON,
    "created_by_id" INTEGER,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_accessed_at" TIMESTAMPTZ(6),

    CONSTRAINT "dashboard_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "dashboard_project_id_id_idx" ON "dashboard"("project_id", "id");
CREATE INDEX "dashboard_created_by_id_idx" ON "dashboard"("created_by_id");

-- A variable of SQL queries.
CREATE TABLE "insight_variable" (
    "id" UUID NOT NULL,
    "environment_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    -- Name in SQL. Made of the first name.
    "code_name" TEXT NOT NULL,
    -- String, Number, Boolean, List or Date.
    "type" TEXT NOT NULL,
    "default_value" JSON NOT NULL,
    -- The choices of a list.
    "values" JSON NOT NULL,
    "created_by_id" INTEGER,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "insight_variable_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "insight_variable_environment_id_code_name_key" ON "insight_variable"("environment_id", "code_name");
CREATE INDEX "insight_variable_created_by_id_idx" ON "insight_variable"("created_by_id");

-- A note about a point in time, shown on charts.
CREATE TABLE "annotation" (
    "id" SERIAL NOT NULL,
    "environment_id" INTEGER NOT NULL,
    "content" TEXT,
    "date_marker" TIMESTAMPTZ(6),
    -- dashboard_item (one insight), dashboard, project or organization.
    "scope" TEXT NOT NULL,
    "creation_type" TEXT NOT NULL DEFAULT 'USR',
    "emoji" TEXT,
    "hidden_in_user_interface" BOOLEAN,
    "deleted" BOOLEAN NOT NULL DEFAULT false,
    "insight_id" INTEGER,
    "dashboard_id" INTEGER,
    "created_by_id" INTEGER,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "annotation_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "annotation_environment_id_date_marker_idx" ON "annotation"("environment_id", "date_marker");
CREATE INDEX "annotation_insight_id_idx" ON "annotation"("insight_id");
CREATE INDEX "annotation_dashboard_id_idx" ON "annotation"("dashboard_id");
CREATE INDEX "annotation_created_by_id_idx" ON "annotation"("created_by_id");

-- The public link of an insight or a dashboard.
CREATE TABLE "sharing_configuration" (
    "id" SERIAL NOT NULL,
    "environment_id" INTEGER NOT NULL,
    "insight_id" INTEGER,
    "dashboard_id" INTEGER,
    "enabled" BOOLEAN NOT NULL DEFAULT false,
    "access_token" TEXT NOT NULL,
    "settings" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sharing_configuration_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "sharing_configuration_record_check" CHECK (num_nonnulls("insight_id", "dashboard_id") = 1)
);

CREATE UNIQUE INDEX "sharing_configuration_insight_id_key" ON "sharing_configuration"("insight_id");
CREATE UNIQUE INDEX "sharing_configuration_dashboard_id_key" ON "sharing_configuration"("dashboard_id");
CREATE UNIQUE INDEX "sharing_configuration_access_token_key" ON "sharing_configuration"("access_token");
CREATE INDEX "sharing_configuration_environment_id_idx" ON "sharing_configuration"("environment_id");

-- An insight on a dashboard, or a text. When an insight is removed from a dashboard, its tile keeps its row and so its
-- layout.
CREATE TABLE "dashboard_tile" (
    "id" SERIAL NOT NULL,
    "dashboard_id" INTEGER NOT NULL,
    "insight_id" INTEGER,
    "body" TEXT,
    "deleted" BOOLEAN NOT NULL DEFAULT false,
    "layouts" JSON NOT NULL DEFAULT '{}',
    "color" TEXT,
    "filters_overrides" JSON,
    "show_description" BOOLEAN,
    "transparent_background" BOOLEAN,
    -- For a text tile.
    "created_by_id" INTEGER,
    "last_modified_by_id" INTEGER,
    "last_modified_at" TIMESTAMPTZ(6),

    CONSTRAINT "dashboard_tile_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "dashboard_tile_content_check" CHECK (("insight_id" IS NULL) <> ("body" IS NULL))
);

CREATE UNIQUE INDEX "dashboard_tile_dashboard_id_insight_id_key" ON "dashboard_tile"("dashboard_id", "insight_id");
CREATE INDEX "dashboard_tile_insight_id_idx" ON "dashboard_tile"("insight_id");
CREATE INDEX "dashboard_tile_created_by_id_idx" ON "dashboard_tile"("created_by_id");
CREATE INDEX "dashboard_tile_last_modified_by_id_idx" ON "dashboard_tile"("last_modified_by_id");

ALTER TABLE "insight" ADD CONSTRAINT "insight_project_id_fkey"
    FOREIGN KEY ("project_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "insight" ADD CONSTRAINT "insight_created_by_id_fkey"
    FOREIGN KEY ("created_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "insight" ADD CONSTRAINT "insight_last_modified_by_id_fkey"
    FOREIGN KEY ("last_modified_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "insight_view" ADD CONSTRAINT "insight_view_insight_id_fkey"
    FOREIGN KEY ("insight_id") REFERENCES "insight"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "insight_view" ADD CONSTRAINT "insight_view_user_id_fkey"
    FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "dashboard" ADD CONSTRAINT "dashboard_project_id_fkey"
    FOREIGN KEY ("project_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "dashboard" ADD CONSTRAINT "dashboard_created_by_id_fkey"
    FOREIGN KEY ("created_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "insight_variable" ADD CONSTRAINT "insight_variable_environment_id_fkey"
    FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "insight_variable" ADD CONSTRAINT "insight_variable_created_by_id_fkey"
    FOREIGN KEY ("created_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "annotation" ADD CONSTRAINT "annotation_environment_id_fkey"
    FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "annotation" ADD CONSTRAINT "annotation_insight_id_fkey"
    FOREIGN KEY ("insight_id") REFERENCES "insight"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "annotation" ADD CONSTRAINT "annotation_dashboard_id_fkey"
    FOREIGN KEY ("dashboard_id") REFERENCES "dashboard"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "annotation" ADD CONSTRAINT "annotation_created_by_id_fkey"
    FOREIGN KEY ("created_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "sharing_configuration" ADD CONSTRAINT "sharing_configuration_environment_id_fkey"
    FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "sharing_configuration" ADD CONSTRAINT "sharing_configuration_insight_id_fkey"
    FOREIGN KEY ("insight_id") REFERENCES "insight"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "sharing_configuration" ADD CONSTRAINT "sharing_configuration_dashboard_id_fkey"
    FOREIGN KEY ("dashboard_id") REFERENCES "dashboard"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "dashboard_tile" ADD CONSTRAINT "dashboard_tile_dashboard_id_fkey"
    FOREIGN KEY ("dashboard_id") REFERENCES "dashboard"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "dashboard_tile" ADD CONSTRAINT "dashboard_tile_insight_id_fkey"
    FOREIGN KEY ("insight_id") REFERENCES "insight"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "dashboard_tile" ADD CONSTRAINT "dashboard_tile_created_by_id_fkey"
    FOREIGN KEY ("created_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "dashboard_tile" ADD CONSTRAINT "dashboard_tile_last_modified_by_id_fkey"
    FOREIGN KEY ("last_modified_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- Feature flags, cohorts, early access features. `project_id` is the id of the environment that owns the data ---------

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

-- A deleted flag keeps its row, but its key can be used again.
CREATE UNIQUE INDEX "feature_flag_live_key" ON "feature_flag"("project_id", "key") WHERE NOT "deleted";
CREATE INDEX "feature_flag_project_id_created_at_id_idx" ON "feature_flag"("project_id", "created_at", "id");
CREATE INDEX "feature_flag_created_by_id_idx" ON "feature_flag"("created_by_id");
CREATE INDEX "feature_flag_last_modified_by_id_idx" ON "feature_flag"("last_modified_by_id");
-- Few flags have encrypted payloads, and the worker often searches them for outdated keys.
CREATE INDEX "feature_flag_encrypted" ON "feature_flag"("id") WHERE "has_encrypted_payloads";

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
    -- When the delivery worker next counts its persons. Null: not until it is changed.
    "calculate_at" TIMESTAMPTZ(3),
    "last_calculation" TIMESTAMPTZ(3),
    "errors_calculating" INTEGER NOT NULL DEFAULT 0,
    "created_by_id" INTEGER,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    -- The source from which the delivery worker fills a static copy: `{"cohort": 7}` or `{"flag": 7}`. Null once it is
    -- filled, and for all other cohorts.
    "fill_from" JSONB,

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

-- Members of static cohorts. No foreign keys, because consumers write the rows when persons are merged.
CREATE TABLE "cohort_member" (
    "project_id" INTEGER NOT NULL,
    "cohort_id" INTEGER NOT NULL,
    "person_uuid" UUID NOT NULL,
    "added_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "cohort_member_pkey" PRIMARY KEY ("project_id", "cohort_id", "person_uuid")
);

CREATE INDEX "cohort_member_project_id_person_uuid_idx" ON "cohort_member"("project_id", "person_uuid");

-- The id from which a person's bucket is computed, for flags that persist across authentication. Written once.
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
    -- Custom data that SDKs receive with the feature.
    "payload" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "early_access_feature_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "early_access_feature_feature_flag_id_key" ON "early_access_feature"("feature_flag_id");
CREATE INDEX "early_access_feature_project_id_created_at_id_idx" ON "early_access_feature"("project_id", "created_at", "id");

ALTER TABLE "early_access_feature" ADD CONSTRAINT "early_access_feature_feature_flag_id_fkey"
    FOREIGN KEY ("feature_flag_id") REFERENCES "feature_flag"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Secret keys (phs_) with which clients read a project's flag definitions. Only hashes are stored. A rolled key stays
-- valid as the backup until it is deleted or the next roll.
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

-- The version of everything on which flag evaluation depends: flags, dynamic cohorts, group types and time zone.
-- Triggers record every change. Processes that cache definitions load only newer versions.
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

-- For an environment that is being deleted, nothing is announced except its own deletion.
CREATE FUNCTION "next_flag_definitions_version"("environment_id" INTEGER) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "flag_definitions_version" AS held ("project_id", "changed_at")
         SELECT e."id", clock_timestamp() FROM "environment" e WHERE e."id" = "environment_id"
    ON CONFLICT ("project_id") DO UPDATE
            SET "version" = held."version" + 1, "changed_at" = EXCLUDED."changed_at";
    PERFORM "notify_flags_change"("environment_id");
END
$$;

-- Once per statement and project. Once per row would scan all former versions of the version row again, 10,000 times
-- for 10,000 flags.
CREATE FUNCTION "flag_definitions_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM "next_flag_definitions_version"(touched."project_id")
       FROM (SELECT DISTINCT "project_id" FROM changed ORDER BY "project_id") touched;
    RETURN NULL;
END
$$;

CREATE TRIGGER "feature_flag_added" AFTER INSERT ON "feature_flag" REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION "flag_definitions_changed"();
CREATE TRIGGER "feature_flag_removed" AFTER DELETE ON "feature_flag" REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION "flag_definitions_changed"();

-- Ignores the time of the last call, which is not part of the definition.
CREATE FUNCTION "flags_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM "next_flag_definitions_version"(touched."project_id")
       FROM (SELECT DISTINCT changed."project_id" FROM changed JOIN former USING ("id")
              WHERE former."last_called_at" IS NOT DISTINCT FROM changed."last_called_at"
              ORDER BY changed."project_id") touched;
    RETURN NULL;
END
$$;

CREATE TRIGGER "feature_flag_changed" AFTER UPDATE ON "feature_flag"
    REFERENCING OLD TABLE AS former NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION "flags_changed"();

CREATE TRIGGER "cohort_added" AFTER INSERT ON "cohort" REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION "flag_definitions_changed"();
CREATE TRIGGER "cohort_removed" AFTER DELETE ON "cohort" REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION "flag_definitions_changed"();

-- Ignores the number of persons.
CREATE FUNCTION "cohorts_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM "next_flag_definitions_version"(touched."project_id")
       FROM (SELECT DISTINCT changed."project_id" FROM changed JOIN former USING ("id")
              WHERE (former."filters", former."groups", former."is_static", former."deleted")
      IS DISTINCT FROM (changed."filters", changed."groups", changed."is_static", changed."deleted")
              ORDER BY changed."project_id") touched;
    RETURN NULL;
END
$$;

CREATE TRIGGER "cohort_changed" AFTER UPDATE ON "cohort"
    REFERENCING OLD TABLE AS former NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION "cohorts_changed"();

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

CREATE TRIGGER "group_type_added" AFTER INSERT ON "group_type_mapping" REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION "flag_definitions_changed"();
CREATE TRIGGER "group_type_changed" AFTER UPDATE ON "group_type_mapping" REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION "flag_definitions_changed"();
CREATE TRIGGER "group_type_removed" AFTER DELETE ON "group_type_mapping" REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION "flag_definitions_changed"();

CREATE TRIGGER "environment_clocks_changed" AFTER UPDATE OF "timezone" ON "environment"
    FOR EACH ROW WHEN (OLD."timezone" <> NEW."timezone") EXECUTE FUNCTION "flag_clocks_changed"();

-- Gateways cache early access features like flags.
CREATE FUNCTION "announce_early_access_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM "notify_flags_change"(CASE WHEN TG_OP = 'DELETE' THEN OLD."project_id" ELSE NEW."project_id" END);
    RETURN NULL;
END
$$;

CREATE TRIGGER "early_access_feature_changed" AFTER INSERT OR UPDATE OR DELETE ON "early_access_feature"
    FOR EACH ROW EXECUTE FUNCTION "announce_early_access_change"();

-- Views for ClickHouse (`EVENT_STORE=clickhouse`). Its role needs access only to these. Times are milliseconds, which
-- do not depend on the time zone of a session.
CREATE SCHEMA "clickhouse";
CREATE VIEW "clickhouse"."person" AS
SELECT project_id, uuid, properties, is_identified, (extract(epoch FROM created_at) * 1000)::bigint AS created_ms FROM "person";
-- Ids that belong to a different person than the one derived from them.
CREATE VIEW "clickhouse"."moved_id" AS
SELECT project_id, distinct_id, person_uuid FROM "person_distinct_id" WHERE version > 0;
CREATE VIEW "clickhouse"."person_distinct_id" AS SELECT project_id, distinct_id, person_uuid FROM "person_distinct_id";
CREATE VIEW "clickhouse"."group" AS
SELECT project_id, group_type_index, group_key, group_properties, (extract(epoch FROM created_at) * 1000)::bigint AS created_ms
  FROM "group";
CREATE VIEW "clickhouse"."cohort_member" AS SELECT project_id, cohort_id, person_uuid FROM "cohort_member";
CREATE VIEW "clickhouse"."event" AS
SELECT project_id, (extract(epoch FROM timestamp) * 1000)::bigint AS timestamp_ms, uuid, event, distinct_id, person_id,
       (extract(epoch FROM person_created_at) * 1000)::bigint AS person_created_ms, person_properties,
       CASE person_mode WHEN 0 THEN 'full' WHEN 1 THEN 'propertyless' ELSE 'force_upgrade' END AS person_mode, properties,
       elements_chain, historical_migration, (extract(epoch FROM captured_at) * 1000)::bigint AS captured_ms,
       (extract(epoch FROM created_at) * 1000)::bigint AS created_ms, created_at
  FROM "event";

-- The progress of copying events and persons to another store, and what must be changed there.
CREATE TABLE "event_store_copy" (
    "store" TEXT NOT NULL,
    -- All events stored before this time have been copied, or all changes of persons. Null: none yet.
    "copied_until" TIMESTAMPTZ(3),
    -- A copying process holds the claim until this time. Null: no process does.
    "claimed_until" TIMESTAMPTZ(3),
    -- The last person that the first pass over all persons has copied. Null: none yet, or the pass is complete.
    "person_project_id" INTEGER,
    "person_uuid" UUID,
    CONSTRAINT "event_store_copy_pkey" PRIMARY KEY ("store")
);
CREATE TABLE "event_store_removal" (
    "id" BIGINT GENERATED ALWAYS AS IDENTITY,
    "project_id" INTEGER NOT NULL,
    -- Null: all events of the project.
    "distinct_id" TEXT,
    -- For a deleted person: only events that were captured or stored before, or that have its UUID. Null: all.
    "person_uuid" UUID,
    "requested_at" TIMESTAMPTZ(3),
    -- The events stay, without personal data.
    "keeps_events" BOOLEAN NOT NULL DEFAULT false,
    CONSTRAINT "event_store_removal_pkey" PRIMARY KEY ("id")
);
-- Persons and moved distinct IDs that changed and must be copied again. The delivery worker creates the triggers that
-- record them when it copies persons, so that installations without another store do not pay for them.
CREATE TABLE "event_store_person_change" (
    "id" BIGINT GENERATED ALWAYS AS IDENTITY,
    "project_id" INTEGER NOT NULL,
    -- Either a person or a distinct ID.
    "person_uuid" UUID,
    "distinct_id" TEXT,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
    CONSTRAINT "event_store_person_change_pkey" PRIMARY KEY ("id")
);
CREATE FUNCTION "event_store_record_persons"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO event_store_person_change (project_id, person_uuid) SELECT project_id, uuid FROM changed;
    RETURN NULL;
END
$$;
CREATE FUNCTION "event_store_record_moved_ids"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_LEVEL = 'ROW' THEN
        INSERT INTO event_store_person_change (project_id, distinct_id) VALUES (NEW.project_id, NEW.distinct_id);
    ELSE
        INSERT INTO event_store_person_change (project_id, distinct_id)
        SELECT project_id, distinct_id FROM changed WHERE version > 0;
    END IF;
    RETURN NULL;
END
$$;
CREATE VIEW "clickhouse"."person_change" AS
SELECT id, project_id, person_uuid, distinct_id FROM "event_store_person_change";
