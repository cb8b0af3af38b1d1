import type { Transaction } from '@millrace/db';
import { type Actor, recordActivity } from '../activity/record-activity.ts';
import { notFound } from '../input.ts';

/**
 * Turns off SSO enforcement of a verified domain when its users can no longer sign in. Only operators can do this.
 * @returns the organization of the domain, and the previous enforcement
 * @throws AppError `not_found`
 */
export async function disableEnforcement(
  tx: Transaction,
  { domain, actor }: { domain: string; actor: Actor },
): Promise<{ organizationId: string; before: string }> {
  const rows = await tx.query<{ id: string; organization_id: string; sso_enforcement: string }>(
    `SELECT id, organization_id, sso_enforcement FROM organization_domain
      WHERE domain = $1 AND verified_at IS NOT NULL FOR UPDATE`,
    [domain.toLowerCase()],
  );
  const [row] = rows;
  if (!row) throw notFound('Verified domain');
  await tx.query("UPDATE organization_domain SET sso_enforcement = '', updated_at = now() WHERE id = $1", [row.id]);
  await recordActivity(tx, {
    organizationId: row.organization_id,
    scope: 'OrganizationDomain',
    itemId: row.id,
    name: domain,
    actor,
    activity: 'updated',
    change: { before: { sso_enforcement: row.sso_enforcement }, after: { sso_enforcement: '' } },
  });
  return { organizationId: row.organization_id, before: row.sso_enforcement };
}
