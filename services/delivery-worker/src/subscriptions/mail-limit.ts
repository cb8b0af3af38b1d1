import { takeMails } from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import { type ClaimedDelivery, putOffMails } from './delivery-store.ts';

/**
 * Those of the claimed reports that may go out in this hour. The mails of an organization beyond its limit are put off to
 * the next hour, with the reason where its members look for one.
 *
 * @param mailsPerHour of one organization; 0 = no limit.
 */
export async function withinMailLimit(
  tx: Transaction,
  claimed: ClaimedDelivery[],
  mailsPerHour: number,
): Promise<ClaimedDelivery[]> {
  if (mailsPerHour === 0) return claimed;
  const mailsOf = byOrganization(claimed.filter(({ target_type, deleted }) => target_type === 'email' && !deleted));
  const beyond = new Set<string>();
  // In one order, so that two workers never wait for each other.
  for (const organizationId of [...mailsOf.keys()].sort()) {
    const mails = mailsOf.get(organizationId) ?? [];
    const granted = await takeMails(tx, { organizationId, wanted: mails.length, mailsPerHour });
    if (granted === mails.length) continue;
    const left = mails.slice(granted).map(({ id }) => id);
    const reason = `The organization may send ${mailsPerHour} mails an hour; this one is sent in the next hour.`;
    await putOffMails(tx, { organizationId, claimed: left, reason });
    for (const id of left) beyond.add(id);
  }
  return claimed.filter(({ id }) => !beyond.has(id));
}

function byOrganization(deliveries: ClaimedDelivery[]): Map<string, ClaimedDelivery[]> {
  const groups = new Map<string, ClaimedDelivery[]>();
  for (const delivery of deliveries) {
    const group = groups.get(delivery.organization_id);
    if (group) group.push(delivery);
    else groups.set(delivery.organization_id, [delivery]);
  }
  return groups;
}
