import type { Sql } from '@millrace/db';
import { recordActivity } from '../activity/record-activity.ts';

/** What a record says of them is that they changed. */
const secret = ['verification_challenge', 'saml_x509_cert'];

export interface AccountActivity {
  organizationId: string | null;
  /** Who did it. */
  userId: number;
  activity: 'created' | 'updated' | 'deleted';
  scope:
    | 'Organization'
    | 'OrganizationDomain'
    | 'OrganizationInvite'
    | 'OrganizationMembership'
    | 'PersonalAPIKey'
    | 'User';
  itemId: string;
  /** What a person calls it. */
  name: string;
  before?: object;
  after?: object;
}

/** Records what was done to an organization and what belongs to it, in the transaction that does it. */
export async function recordAccountActivity(
  tx: Sql,
  { userId, before, after, ...rest }: AccountActivity,
): Promise<void> {
  const change = before && after ? { change: { before, after, secret } } : {};
  await recordActivity(tx, { ...rest, actor: { userId }, ...change });
}
