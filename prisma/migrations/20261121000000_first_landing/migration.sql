-- Accounts ------------------------------------------------------------------------------------------------------------

CREATE TABLE "organization" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    -- List of {key, name}; what the organization's plan includes (docs/api-rules.md#plans).
    "available_product_features" JSONB NOT NULL DEFAULT '[]',
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
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
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
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
    -- Hexadecimal SHA-256 of the key; the key itself is shown once and kept nowhere.
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

-- Projects and environments take their ids from one sequence; a project's first environment shares the project's id.
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
    -- The project API key SDKs send. Public by design, so it is kept readable.
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
    CONSTRAINT "environment_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "environment_uuid_key" ON "environment"("uuid");
CREATE UNIQUE INDEX "environment_api_token_key" ON "environment"("api_token");
CREATE INDEX "environment_project_id_idx" ON "environment"("project_id");
ALTER TABLE "environment" ADD CONSTRAINT "environment_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Ingested data -------------------------------------------------------------------------------------------------------
-- "project_id" below is the id of the environment that owns the data (environments and projects share one id space).
-- Every primary key leads with it, so that the tables shard by it. No foreign keys: rows are written in sets by one
-- writer whose lock order (event-consumer, ledger-store.ts) keeps them consistent, and a check per row would cost more
-- than the row.

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
    CONSTRAINT "person_pkey" PRIMARY KEY ("project_id", "uuid")
);
CREATE UNIQUE INDEX "person_project_id_id_key" ON "person"("project_id", "id");

CREATE TABLE "person_distinct_id" (
    "project_id" INTEGER NOT NULL,
    "distinct_id" TEXT NOT NULL,
    "person_uuid" UUID NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 0,
    -- Order in which a person's ids are shown after the main one.
    "id" BIGSERIAL NOT NULL,
    CONSTRAINT "person_distinct_id_pkey" PRIMARY KEY ("project_id", "distinct_id")
);
CREATE INDEX "person_distinct_id_project_id_person_uuid_idx" ON "person_distinct_id"("project_id", "person_uuid");

CREATE TABLE "group_type_mapping" (
    "project_id" INTEGER NOT NULL,
    "group_type" TEXT NOT NULL,
    -- 0 to 4.
    "group_type_index" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL,
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

-- Range-partitioned by month of "timestamp". Months are made on demand by the event consumer; everything older than
-- 2015 lies in one partition. Retention drops partitions.
CREATE TABLE "event" (
    "project_id" INTEGER NOT NULL,
    "timestamp" TIMESTAMPTZ(3) NOT NULL,
    "uuid" UUID NOT NULL,
    "event" TEXT NOT NULL,
    "distinct_id" TEXT NOT NULL,
    -- The person as of ingestion; the current one is found through person_distinct_id.
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

CREATE TABLE "event_before_2015" PARTITION OF "event" FOR VALUES FROM (MINVALUE) TO ('2015-01-01T00:00:00Z');

-- One row per decided event, stored or dropped: what makes a repeated uuid one event, whatever timestamp the repetition carries.
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
    -- error = an event was dropped, warning = kept but changed or partly refused, info = intended.
    "severity" TEXT NOT NULL,
    "details" JSONB NOT NULL DEFAULT '{}',
    "count" INTEGER NOT NULL DEFAULT 1,
    "timestamp" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "ingestion_warning_pkey" PRIMARY KEY ("project_id", "id")
);
CREATE INDEX "ingestion_warning_project_id_timestamp_id_idx" ON "ingestion_warning"("project_id", "timestamp", "id");

-- The log --------------------------------------------------------------------------------------------------------------

-- Where a consumer group goes on. Written in the transaction that stores the effects of the records before it.
CREATE TABLE "consumer_offset" (
    "topic" TEXT NOT NULL,
    "partition" INTEGER NOT NULL,
    "group" TEXT NOT NULL,
    "next_offset" BIGINT NOT NULL,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "consumer_offset_pkey" PRIMARY KEY ("topic", "partition", "group")
);

-- The embedded log (packages/event-log/src/postgres).
CREATE TABLE "event_log_partition" (
    "topic" TEXT NOT NULL,
    "partition" INTEGER NOT NULL,
    "next_offset" BIGINT NOT NULL DEFAULT 0,
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
