import type { AccountClient } from './account-client.ts';
import { notFound } from './account-errors.ts';

/**
 * Holds an organization until the transaction ends: who belongs to it changes only behind this lock, always the first one
 * taken. The management API locks the same row before it changes members and invites.
 *
 * @throws AppError `not_found`.
 */
export async function lockOrganization(client: AccountClient, organizationId: string): Promise<void> {
  const rows = await client.$queryRaw<
    unknown[]
  >`SELECT 1 FROM organization WHERE id = ${organizationId}::uuid FOR NO KEY UPDATE`;
  if (rows.length === 0) throw notFound('Organization');
}
