import { membershipLevels } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import type { Mailer } from '@millrace/runtime/mail';

/**
 * Sends an email to each administrator of an organization.
 * @returns how many emails the mail server accepted. The mailer counts and logs the failed ones.
 */
export async function mailAdministrators(
  { sql, mailer }: { sql: Sql; mailer: Mailer },
  organizationId: string,
  { subject, sentences }: { subject: string; sentences: readonly string[] },
): Promise<number> {
  const administrators = await sql.query<{ email: string }>(
    `SELECT u.email FROM membership m JOIN "user" u ON u.id = m.user_id
      WHERE m.organization_id = $1 AND m.level >= $2 AND u.is_active ORDER BY u.id`,
    [organizationId, membershipLevels.administrator],
  );
  let accepted = 0;
  const text = ['Hello,', ...sentences].join('\n\n');
  for (const { email } of administrators) {
    const { result } = await mailer.send({ to: email, subject: `${subject} (Millrace)`, text });
    if (result === 'accepted') accepted += 1;
  }
  return accepted;
}
