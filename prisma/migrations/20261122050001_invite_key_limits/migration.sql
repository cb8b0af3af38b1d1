-- What the key that made an invite could do: the first key of whoever accepts it can do no more. An empty list is an
-- invite of a version that did not keep it.
ALTER TABLE "organization_invite" ADD COLUMN "key_scopes" TEXT[] NOT NULL DEFAULT '{}',
                                  ADD COLUMN "is_key_limited" BOOLEAN NOT NULL DEFAULT false,
                                  ADD COLUMN "key_expires_at" TIMESTAMPTZ(6);
