-- Organizations: what the API shows of them (docs/api-rules.md#organizations) -----------------------------------------

ALTER TABLE "organization"
    -- Unique name for addresses people read. Made of the name by whoever creates the row; the default only fills in.
    ADD COLUMN "slug" TEXT NOT NULL DEFAULT (gen_random_uuid())::text,
    ADD COLUMN "logo_media_id" UUID,
    ADD COLUMN "is_member_join_email_enabled" BOOLEAN NOT NULL DEFAULT true,
    ADD COLUMN "enforce_2fa" BOOLEAN;

UPDATE "organization" o
   SET "slug" = readable."slug"
  FROM (
    SELECT "id", "slug", row_number() OVER (PARTITION BY "slug" ORDER BY "created_at", "id") AS "place"
      FROM (
        SELECT "id", "created_at",
               trim(BOTH '-' FROM left(regexp_replace(lower("name"), '[^a-z0-9]+', '-', 'g'), 48)) AS "slug"
          FROM "organization"
      ) named
  ) readable
 WHERE readable."id" = o."id" AND readable."place" = 1 AND readable."slug" <> '';

CREATE UNIQUE INDEX "organization_slug_key" ON "organization"("slug");

-- What `@current` stands for. No foreign keys: a value that is gone or out of reach is passed over when it is read.
ALTER TABLE "user"
    ADD COLUMN "current_organization_id" UUID,
    ADD COLUMN "current_environment_id" INTEGER;

-- Domains (docs/api-rules.md#domains) ---------------------------------------------------------------------------------

CREATE TABLE "organization_domain" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    -- Lower case; one organization per name in the whole installation.
    "domain" TEXT NOT NULL,
    -- What the TXT record must hold.
    "verification_challenge" TEXT NOT NULL,
    "verified_at" TIMESTAMPTZ(6),
    -- Last check that found nothing; not shown.
    "last_verification_retry" TIMESTAMPTZ(6),
    "jit_provisioning_enabled" BOOLEAN NOT NULL DEFAULT false,
    "sso_enforcement" TEXT NOT NULL DEFAULT '',
    "saml_entity_id" TEXT,
    "saml_acs_url" TEXT,
    "saml_x509_cert" TEXT,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "organization_domain_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "organization_domain_domain_key" ON "organization_domain"("domain");
CREATE INDEX "organization_domain_organization_id_domain_idx" ON "organization_domain"("organization_id", "domain");
ALTER TABLE "organization_domain" ADD CONSTRAINT "organization_domain_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Invites (docs/api-rules.md#invites) ---------------------------------------------------------------------------------

CREATE TABLE "organization_invite" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "target_email" TEXT NOT NULL,
    -- The address in lower case: how it is compared with users and other invites.
    "email_key" TEXT NOT NULL,
    "first_name" TEXT NOT NULL DEFAULT '',
    "emailing_attempt_made" BOOLEAN NOT NULL DEFAULT false,
    -- 1 member, 8 administrator, 15 owner.
    "level" INTEGER NOT NULL DEFAULT 1,
    "created_by_id" INTEGER,
    "message" TEXT,
    -- List of {id: environment, level: 1 or 8}; null when there is none.
    "private_project_access" JSONB,
    "send_email" BOOLEAN NOT NULL DEFAULT true,
    "combine_pending_invites" BOOLEAN NOT NULL DEFAULT false,
    -- Hexadecimal SHA-256 of the secret in the mail; whoever has it may sign up with the address.
    "token_hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "organization_invite_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "organization_invite_organization_id_email_key_key" ON "organization_invite"("organization_id", "email_key");
CREATE INDEX "organization_invite_organization_id_created_at_id_idx" ON "organization_invite"("organization_id", "created_at", "id");
CREATE INDEX "organization_invite_email_key_idx" ON "organization_invite"("email_key");
CREATE INDEX "organization_invite_created_by_id_idx" ON "organization_invite"("created_by_id");
ALTER TABLE "organization_invite" ADD CONSTRAINT "organization_invite_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "organization_invite" ADD CONSTRAINT "organization_invite_created_by_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- The member list is shown in this order.
CREATE INDEX "membership_organization_id_joined_at_id_idx" ON "membership"("organization_id", "joined_at", "id");
