import { takeMails } from '@millrace/accounts';
import type { Database, Sql, Transaction } from '@millrace/db';
import type { Logger, Metrics } from '@millrace/runtime';
import type { Mailer } from '@millrace/runtime/mail';
import { describeRule } from '@millrace/schedule';
import { type PostOutcome, postJson } from '../outbound.ts';
import type { FairSlots } from '../poll.ts';
import { type ClaimedDelivery, claimDeliveries, finishDelivery, postponeDelivery, putOffMails } from './store.ts';

/** Longer than any attempt can take. */
const leaseSeconds = 120;
/** Waits before the second, third, … attempt; after the last one it is given up. */
const retryDelaysSeconds = [60, 300, 1800, 7200];

export interface DeliverDueDeps extends DeliverDeps {
  database: Pick<Database, 'sql' | 'transaction'>;
  /** Of one organization; 0 = no limit. */
  mailsPerHour: number;
  logger: Logger;
  counter: ReturnType<typeof createDeliveryMetrics>;
}

/** Begins to send what is to be sent, beside what is under way. @returns whether there may be more. */
export async function deliverDue(deps: DeliverDueDeps, slots: FairSlots): Promise<boolean> {
  if (slots.free() === 0) {
    await slots.released();
    return true;
  }
  const { mailsPerHour } = deps;
  const claimed = await deps.database.transaction(async (tx) => {
    const due = await claimDeliveries(tx, { limit: slots.free(), leaseSeconds, usage: slots.usage() });
    return withinMailLimit(tx, due, mailsPerHour);
  });
  for (const delivery of claimed) slots.start(delivery.organization_id, () => deliverOne(delivery, deps));
  return claimed.length > 0;
}

async function deliverOne(delivery: ClaimedDelivery, deps: DeliverDueDeps): Promise<void> {
  const outcome = await attempt(delivery, deps);
  deps.counter.inc({ target_type: delivery.target_type, result: outcome.result });
  if (outcome.result === 'failed') {
    const { id: deliveryId, subscription_id: subscriptionId, attempts } = delivery;
    deps.logger.warn('a report could not be delivered', {
      deliveryId,
      subscriptionId,
      attempts,
      reason: outcome.error,
    });
  }
  await record(deps.database.sql, delivery, outcome);
}

/** A report that has taken its worker down every time is not tried for ever. */
async function attempt(delivery: ClaimedDelivery, deps: DeliverDueDeps): Promise<DeliveryOutcome> {
  if (delivery.attempts <= retryDelaysSeconds.length + 1) return deliver(delivery, deps);
  return {
    result: 'failed',
    isPermanent: true,
    error: 'Every attempt was interrupted: the worker stopped while it was under way.',
  };
}

async function record(sql: Sql, delivery: ClaimedDelivery, outcome: DeliveryOutcome): Promise<void> {
  if (outcome.result !== 'failed') return finishDelivery(sql, delivery, { status: outcome.result, error: null });
  const { error, isPermanent } = outcome;
  const delaySeconds = isPermanent ? undefined : retryDelaysSeconds[delivery.attempts - 1];
  if (delaySeconds === undefined) return finishDelivery(sql, delivery, { status: 'failed', error });
  return postponeDelivery(sql, delivery, { error, delaySeconds });
}

export function createDeliveryMetrics(metrics: Metrics) {
  return metrics.counter('millrace_subscription_deliveries_total', 'Attempts to send a report, by outcome.', [
    'target_type',
    'result',
  ]);
}

/**
 * Those of the claimed reports that may go out in this hour. The mails of an organization beyond its limit are put off to
 * the next hour, with the reason where its members look for one.
 *
 * @param mailsPerHour of one organization; 0 = no limit.
 */
async function withinMailLimit(
  tx: Transaction,
  claimed: ClaimedDelivery[],
  mailsPerHour: number,
): Promise<ClaimedDelivery[]> {
  if (mailsPerHour === 0) return claimed;
  const mailsOf = byOrganization(
    claimed.filter(
      ({ target_type, deleted, occasion }) => target_type === 'email' && (!deleted || occasion === 'ended'),
    ),
  );
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

interface DeliverDeps {
  /** Null when the installation has no mail server. */
  mailer: Mailer | null;
  publicAppUrl: string | undefined;
  /** Whether webhooks may lead into private networks. */
  mayBePrivate: boolean;
  postTimeoutMs: number;
}

/** What came of one attempt. A permanent failure would come again. The sentence is for the subscription's owner. */
type DeliveryOutcome =
  | { result: 'delivered' }
  | { result: 'cancelled' }
  | { result: 'failed'; isPermanent: boolean; error: string };

/** Sends one report once. Never throws. */
async function deliver(delivery: ClaimedDelivery, deps: DeliverDeps): Promise<DeliveryOutcome> {
  if (delivery.deleted && delivery.occasion !== 'ended') return { result: 'cancelled' };
  const report = reportOf(delivery, deps.publicAppUrl);
  switch (delivery.target_type) {
    case 'email':
      return sendMail(delivery.target, report, deps.mailer);
    case 'slack':
      return sendToSlack(delivery, report, deps);
    case 'webhook':
      return toOutcome(await post(delivery, delivery.target, { document: webhookDocument(delivery, report), deps }));
    default:
      return { result: 'failed', isPermanent: true, error: 'Unknown target type.' };
  }
}

async function sendMail(to: string, report: Report, mailer: Mailer | null): Promise<DeliveryOutcome> {
  if (mailer === null) {
    return { result: 'failed', isPermanent: true, error: 'This installation has no mail server (SMTP_URL).' };
  }
  const outcome = await mailer.send({ to, subject: report.title, text: toText(report) });
  switch (outcome.result) {
    case 'accepted':
      return { result: 'delivered' };
    case 'refused': {
      const { isPermanent, code } = outcome;
      return { result: 'failed', isPermanent, error: `The mail server refused the mail (${code}).` };
    }
    case 'unreachable':
      return { result: 'failed', isPermanent: false, error: `The mail server could not be reached (${outcome.code}).` };
  }
}

/** Through the address of an incoming webhook: the target itself, or the project's, which may be told a channel. */
async function sendToSlack(delivery: ClaimedDelivery, report: Report, deps: DeliverDeps): Promise<DeliveryOutcome> {
  const text = toText(report);
  const isAddress = /^https?:\/\//.test(delivery.target);
  const address = isAddress ? delivery.target : delivery.slack_incoming_webhook?.trim();
  if (!address) {
    const error = "The project's slack_incoming_webhook is not set. Set it, or give the subscription an address.";
    return { result: 'failed', isPermanent: true, error };
  }
  const channel = delivery.target.split('|')[0];
  return toOutcome(await post(delivery, address, { document: isAddress ? { text } : { channel, text }, deps }));
}

function webhookDocument(delivery: ClaimedDelivery, report: Report) {
  return {
    delivery_id: delivery.id,
    subscription_id: delivery.subscription_id,
    project_id: delivery.environment_id,
    occasion: delivery.occasion,
    due_at: delivery.due_at.toISOString(),
    title: report.title,
    summary: report.summary,
    url: report.link,
    dashboard: delivery.dashboard,
    insight: delivery.insight,
    invite_message: report.inviteMessage,
    end: report.end,
  };
}

function post(
  { id }: ClaimedDelivery,
  address: string,
  { document, deps }: { document: unknown; deps: DeliverDeps },
): Promise<PostOutcome> {
  const { mayBePrivate, postTimeoutMs: timeoutMs } = deps;
  return postJson(address, document, { idempotencyKey: id, mayBePrivate, timeoutMs });
}

function toOutcome(outcome: PostOutcome): DeliveryOutcome {
  if (outcome.result === 'unreachable') {
    const isPermanent = ['EPRIVATEADDRESS', 'ERR_INVALID_URL'].includes(outcome.code);
    return { result: 'failed', isPermanent, error: `The address could not be reached (${outcome.code}).` };
  }
  const { status } = outcome;
  if (status >= 200 && status < 300) return { result: 'delivered' };
  const mayChange = status >= 500 || status === 408 || status === 429;
  return { result: 'failed', isPermanent: !mayChange, error: `The address answered ${status}.` };
}

/** What a report says, however it is sent. */
interface Report {
  title: string;
  /** When it comes, in words. */
  summary: string;
  /** Where the dashboard or insight is; null when nobody has told us where the application is. */
  link: string | null;
  inviteMessage: string | null;
  /** Why there will be no more; null while there will be. */
  end: string | null;
}

/** Insight before dashboard when a subscription has both (docs/api-rules.md#subscriptions). */
function reportOf(delivery: ClaimedDelivery, publicAppUrl: string | undefined): Report {
  const { insight, dashboard, environment_id, environment_name, subject_name, occasion } = delivery;
  const [name, path] =
    insight !== null
      ? [subject_name || `Insight ${insight}`, `/insights/${insight}`]
      : dashboard !== null
        ? [subject_name || `Dashboard ${dashboard}`, `/dashboard/${dashboard}`]
        : [environment_name, ''];
  const isEnded = occasion === 'ended';
  const kind = insight === null ? 'dashboard' : 'insight';
  return {
    title: delivery.title?.trim() || name,
    summary: describeRule(delivery),
    link:
      publicAppUrl === undefined || isEnded
        ? null
        : `${publicAppUrl.replace(/\/+$/, '')}/project/${environment_id}${path}`,
    inviteMessage: delivery.invite_message?.trim() || null,
    end: isEnded ? `The ${kind} “${name}” was deleted. There will be no more reports of it.` : null,
  };
}

/** As plain text, for mails. */
function toText({ title, summary, link, inviteMessage, end }: Report): string {
  return [inviteMessage, title, link, end ?? `This report is ${summary}.`].filter((part) => part !== null).join('\n\n');
}
