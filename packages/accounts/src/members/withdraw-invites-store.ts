import { membershipLevels } from '@millrace/contracts';
import type { Sql } from '@millrace/db';

interface WithdrawnInvite {
  id: string;
  organization_id: string;
  target_email: string;
}

/**
 * Withdraws what somebody has promised who may not promise it any more. An invite is accepted up to three days after it
 * was made; without this whoever is about to be removed or demoted could keep a way back, as administrator too. Whoever
 * is still wanted can be invited again, by somebody who may.
 *
 * @param sql of a transaction; where it concerns one organization, behind the lock on it.
 * @param maker.organizationId null for all organizations.
 * @param maker.level what is left of the maker's level there; null when nothing is. Invites that grant no more stay, and
 * below an administrator those that open private projects go.
 */
export async function deleteInvitesOf(
  sql: Sql,
  { organizationId, userId, level }: { organizationId: string | null; userId: number; level: number | null },
): Promise<WithdrawnInvite[]> {
  return sql.query<WithdrawnInvite & Record<string, unknown>>(
    `DELETE FROM organization_invite
      WHERE created_by_id = $1 AND ($2::uuid IS NULL OR organization_id = $2)
        AND ($3::int IS NULL OR level > $3 OR ($3 < $4 AND jsonb_typeof(private_project_access) = 'array'))
     RETURNING id, organization_id, target_email`,
    [userId, organizationId, level, membershipLevels.administrator],
  );
}
