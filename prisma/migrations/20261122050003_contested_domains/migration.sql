-- "domain" is unique and stays so: it is the name for whoever has proved it or, before that, added it first. Who adds the same
-- name meanwhile has it here, and its own id in "domain".
ALTER TABLE "organization_domain" ADD COLUMN "contested_name" TEXT;
