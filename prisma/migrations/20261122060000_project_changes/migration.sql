-- Project API keys that were replaced: records that wait in the log may know their environment by nothing else ----------

CREATE TABLE "former_project_key" (
    "token" TEXT NOT NULL,
    "environment_id" INTEGER NOT NULL,
    "replaced_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "former_project_key_pkey" PRIMARY KEY ("token")
);

CREATE INDEX "former_project_key_environment_id_idx" ON "former_project_key"("environment_id");

ALTER TABLE "former_project_key" ADD CONSTRAINT "former_project_key_environment_id_fkey"
    FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Triggers, so that no way of changing a key can forget it: API, command line, or a hand in the database.

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

-- What gateways and consumers remember of projects is announced as changed (packages/contracts, project-changes.ts) -----

-- What does not fit into a notification becomes "anything may have changed".
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

-- Not for the note of the first event, which consumers write and nobody remembers wrongly.
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
