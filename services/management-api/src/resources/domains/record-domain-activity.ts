import { type Activity, recordActivity } from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import type { Caller } from '../../access/caller.ts';
import type { DomainRow } from './domain-store.ts';

/** What a record says of them is that they changed. */
const secret = ['verification_challenge', 'saml_x509_cert'];

/** Records what was done to a domain. */
export async function recordDomainActivity(
  tx: Transaction,
  actor: Caller,
  { activity, before, after }: Pick<Activity, 'activity'> & { before?: DomainRow; after?: DomainRow },
): Promise<void> {
  const row = after ?? before;
  if (!row) return;
  await recordActivity(tx, {
    organizationId: row.organization_id,
    scope: 'OrganizationDomain',
    itemId: row.id,
    activity,
    actor,
    name: row.domain,
    ...(before && after && { change: { before, after, secret } }),
  });
}
