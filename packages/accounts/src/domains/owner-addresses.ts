/** Finds owners of an organization whose email addresses are in given domains. */

import { domainToUnicode } from 'node:url';
import { membershipLevels } from '@millrace/contracts';
import type { Sql } from '@millrace/db';

/**
 * Returns the ASCII and Unicode forms of a domain, because an email address can contain either.
 * @param domain a lower-case ASCII name
 */
export const listHostSpellings = (domain: string): string[] => [domain, domainToUnicode(domain)];

/**
 * Returns whether an owner of the organization has an email address in one of these domains. Pending invites for owners
 * count too. An administrator of such a domain's identity provider could sign in as that owner.
 */
export async function hasOwnerAddress(
  sql: Sql,
  { organizationId, domains }: { organizationId: string; domains: readonly string[] },
): Promise<boolean> {
  const rows = await sql.query(
    `SELECT FROM membership m JOIN "user" u ON u.id = m.user_id
      WHERE m.organization_id = $1 AND m.level = $2 AND split_part(u.email, '@', 2) = ANY ($3::text[])
     UNION ALL
     SELECT FROM organization_invite
      WHERE organization_id = $1 AND level = $2 AND split_part(email_key, '@', 2) = ANY ($3::text[])
     LIMIT 1`,
    [organizationId, membershipLevels.owner, domains.flatMap(listHostSpellings)],
  );
  return rows.length > 0;
}
