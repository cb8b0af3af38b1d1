import type { Sql } from '@millrace/db';

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
export async function recordAccountActivity(_tx: Sql, _activity: AccountActivity): Promise<void> {}
