-- Salts of the ids that stand for visitors without cookies (services/event-consumer/src/cookieless) ---------------------
-- One for each calendar day, whatever the time zone. Once it is deleted nobody can tell who an id stood for.

CREATE TABLE "cookieless_salt" (
    "day" TEXT NOT NULL,
    "salt" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "cookieless_salt_pkey" PRIMARY KEY ("day")
);
