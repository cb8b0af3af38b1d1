-- How many members and projects an organization has, kept beside it: lists tell the number of all their results on every
-- page, and counting 100,000 rows for each page costs a thousand times what the page does. Written with every membership
-- and project, whoever adds or removes it and however (a cascade included); neither is ever moved to another organization.

CREATE TABLE "organization_size" (
    "organization_id" UUID NOT NULL,
    -- Inactive users included: those are few and taken off when asked.
    "members" INTEGER NOT NULL DEFAULT 0,
    "projects" INTEGER NOT NULL DEFAULT 0,
    CONSTRAINT "organization_size_pkey" PRIMARY KEY ("organization_id")
);
ALTER TABLE "organization_size" ADD CONSTRAINT "organization_size_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE FUNCTION "add_to_organization_size"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    is_members CONSTANT BOOLEAN := TG_TABLE_NAME = 'membership';
BEGIN
    -- In one order, so that two of these never wait for each other.
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
    -- The row may have gone with its organization.
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

-- The triggers keep writers out until this script is kept, so that nothing is missed or counted twice.
INSERT INTO "organization_size" ("organization_id", "members", "projects")
SELECT o."id", (SELECT count(*) FROM "membership" m WHERE m."organization_id" = o."id"),
       (SELECT count(*) FROM "project" p WHERE p."organization_id" = o."id")
  FROM "organization" o;

-- Pages in the orders lists have.
CREATE INDEX "user_is_active_id_idx" ON "user"("is_active", "id");
CREATE INDEX "membership_organization_id_updated_at_id_idx" ON "membership"("organization_id", "updated_at", "id");
CREATE INDEX "membership_organization_id_level_id_idx" ON "membership"("organization_id", "level", "id");
CREATE INDEX "project_organization_id_id_idx" ON "project"("organization_id", "id");
