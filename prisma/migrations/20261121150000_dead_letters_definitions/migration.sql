-- What an operator decided about a dead letter; its name is the place of the record in the log it came from.
CREATE TABLE "dead_letter_decision" (
    "topic" TEXT NOT NULL,
    "partition" INTEGER NOT NULL,
    "offset" BIGINT NOT NULL,
    "decision" TEXT NOT NULL,
    "decided_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "dead_letter_decision_pkey" PRIMARY KEY ("topic", "partition", "offset"),
    CONSTRAINT "dead_letter_decision_decision_check" CHECK ("decision" IN ('replayed', 'discarded'))
);

-- Which event names and properties a project has sent. Kept from a sample, written at most once an hour for each.
CREATE TABLE "event_definition" (
    "project_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "event_definition_pkey" PRIMARY KEY ("project_id", "name")
);

CREATE TABLE "property_definition" (
    "project_id" INTEGER NOT NULL,
    -- 1 event, 2 person, 3 group.
    "type" SMALLINT NOT NULL,
    -- Of a group property; -1 otherwise.
    "group_type_index" SMALLINT NOT NULL DEFAULT -1,
    "name" TEXT NOT NULL,
    -- DateTime, String, Numeric or Boolean: the first that could be told. Null until then.
    "property_type" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "property_definition_pkey" PRIMARY KEY ("project_id", "type", "group_type_index", "name")
);

-- Every event with the person it belongs to now: a merge moves the mapping, never the events, and an anonymous event
-- belongs to whoever its distinct id was given to later.
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
