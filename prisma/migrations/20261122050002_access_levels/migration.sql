-- What the rule for everybody gives, `member` or `admin`; null without such a rule. Where it is `none`, "access_control" says so.
ALTER TABLE "environment" ADD COLUMN "default_access_level" TEXT;
-- Null: the member is shut out. An older version takes such a row for one that gives nothing.
ALTER TABLE "environment_member" ALTER COLUMN "level" DROP NOT NULL;
