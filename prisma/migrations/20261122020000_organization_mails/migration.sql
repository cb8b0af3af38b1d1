-- How many mails an organization has sent in the hour it last sent one: there is a limit for each hour of the clock.

CREATE TABLE "organization_mail_hour" (
    "organization_id" UUID NOT NULL,
    "hour" TIMESTAMPTZ(6) NOT NULL,
    "mails" INTEGER NOT NULL,
    CONSTRAINT "organization_mail_hour_pkey" PRIMARY KEY ("organization_id")
);
ALTER TABLE "organization_mail_hour" ADD CONSTRAINT "organization_mail_hour_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;
