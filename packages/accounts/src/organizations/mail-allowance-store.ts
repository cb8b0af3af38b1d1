import type { Sql } from '@millrace/db';

/**
 * Takes mails out of what an organization may send in this hour of the clock, whoever sends them.
 * @returns how many of those wanted may be sent.
 */
export async function takeMails(
  sql: Sql,
  { organizationId, wanted, mailsPerHour }: { organizationId: string; wanted: number; mailsPerHour: number },
): Promise<number> {
  const rows = await sql.query<{ before: number }>(
    `INSERT INTO organization_mail_hour AS taken (organization_id, hour, mails)
     VALUES ($1, date_trunc('hour', now()), $2)
     ON CONFLICT (organization_id) DO UPDATE
        SET hour = excluded.hour,
            -- What was refused counts as well: nothing more goes out in this hour.
            mails = least(CASE WHEN taken.hour = excluded.hour THEN taken.mails ELSE 0 END + $2, 1000000000)
     RETURNING mails - $2 AS before`,
    [organizationId, wanted],
  );
  return Math.min(wanted, Math.max(0, mailsPerHour - (rows[0]?.before ?? 0)));
}
