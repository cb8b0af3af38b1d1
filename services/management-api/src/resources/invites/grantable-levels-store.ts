import { hasPlanFeature, membershipLevels } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import type { LockedOrganization } from '../organizations/lock-organization-store.ts';

/**
 * The inviter's own level on each environment of the organization that the inviter can see: administrators and owners
 * see all, others those that are not private (reference/management-api.md 2.8, 5.3).
 */
export async function grantableLevels(
  sql: Sql,
  { level, organization }: { level: number; organization: LockedOrganization },
): Promise<Map<number, number>> {
  const seesPrivate =
    level >= membershipLevels.administrator ||
    !hasPlanFeature(organization.available_product_features, 'project_based_permissioning');
  const rows = await sql.query<{ id: number }>(
    `SELECT e.id FROM environment e JOIN project p ON p.id = e.project_id
      WHERE p.organization_id = $1 AND ($2 OR NOT e.access_control)`,
    [organization.id, seesPrivate],
  );
  return new Map(rows.map(({ id }) => [id, level]));
}
