// Sends due reports by email, Slack or webhook, and retries after failures.

import { reserveEmailQuota } from '@millrace/accounts';
import type { Database, Sql, Transaction } from '@millrace/db';
import {
  buildReportMail,
  buildSlackBlocks,
  createPictureLink,
  createReportLinks,
  createUnsubscribeLink,
  hasPicture,
  type ReportedInsight,
  type ReportMessage,
  toWebhookReport,
} from '@millrace/reports';
import type { Logger, Metrics } from '@millrace/runtime';
import type { Mailer } from '@millrace/runtime/mail';
import { describeOutboundFailure } from '@millrace/runtime/outbound';
import { describeRule } from '@millrace/schedule';
import type { FairSlots } from '../poll.ts';
import { type PostOutcome, postJson } from '../post-json.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  finishDelivery,
  postponeDelivery,
  postponeOrganizationMails,
} from './store.ts';

/** How long a claim lasts in seconds. This is longer than any attempt takes, including drawing charts and sending. */
const leaseSeconds = 120;
/** Delays in seconds before the second and each following attempt. The delivery fails after the last attempt. */
const retryDelaysSeconds = [60, 300, 1800, 7200];

export interface DeliverDueDeps extends DeliverDeps {
  database: Pick<Database, 'sql' | 'transaction'>;
  /** Maximum number of emails per organization and hour, or 0 for unlimited. */
  mailsPerHour: number;
  counter: ReturnType<typeof createDeliveryMetrics>;
}

/**
 * Starts sending due reports, in addition to those in progress.
 * @returns whether more reports may be due
 */
export async function deliverDueReports(deps: DeliverDueDeps, slots: FairSlots): Promise<boolean> {
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
    deps.logger.warn('delivering a report failed', {
      deliveryId,
      subscriptionId,
      attempts,
      reason: outcome.error,
    });
  }
  await record(deps.database.sql, delivery, outcome);
}

/**
 * Attempts a delivery. If the worker stopped during all earlier attempts, the delivery may have caused that, so it
 * fails.
 */
async function attempt(delivery: ClaimedDelivery, deps: DeliverDueDeps): Promise<DeliveryOutcome> {
  if (delivery.attempts <= retryDelaysSeconds.length + 1) return deliver(delivery, deps);
  return {
    result: 'failed',
    isPermanent: true,
    error: 'Every attempt was interrupted, because the worker stopped during the attempt.',
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
  return metrics.counter('millrace_subscription_deliveries_total', 'Attempts to send a report, by result', [
    'target_type',
    'result',
  ]);
}

/**
 * Returns the deliveries that can be sent this hour. Postpones emails beyond an organization's limit to the next hour,
 * with a reason that its members can see.
 * @param mailsPerHour the limit per organization, or 0 for unlimited
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
  // Lock organizations in a fixed order, so that two workers cannot deadlock.
  for (const organizationId of [...mailsOf.keys()].sort()) {
    const mails = mailsOf.get(organizationId) ?? [];
    const granted = await reserveEmailQuota(tx, { organizationId, wanted: mails.length, mailsPerHour });
    if (granted === mails.length) continue;
    const postponed = mails.slice(granted).map(({ id }) => id);
    const reason = `The organization has reached its limit of ${mailsPerHour} emails per hour. This email will be sent in the next hour.`;
    await postponeOrganizationMails(tx, { organizationId, claimed: postponed, reason });
    for (const id of postponed) beyond.add(id);
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
  /** The mail client, or null if no mail server is configured. */
  mailer: Mailer | null;
  publicAppUrl: string | undefined;
  publicApiUrl: string | undefined;
  mayBePrivate: boolean;
  postTimeoutMs: number;
  logger: Logger;
}

/**
 * An attempt's outcome. If `isPermanent` is true, another attempt would fail too. The subscription's owner sees the
 * message.
 */
type DeliveryOutcome =
  | { result: 'delivered' }
  | { result: 'cancelled' }
  | { result: 'failed'; isPermanent: boolean; error: string };

async function deliver(delivery: ClaimedDelivery, deps: DeliverDeps): Promise<DeliveryOutcome> {
  if (delivery.deleted && delivery.occasion !== 'ended') return { result: 'cancelled' };
  const message = messageOf(delivery, deps);
  switch (delivery.target_type) {
    case 'email':
      return sendMail(delivery.target, message, deps);
    case 'slack':
      return sendToSlack(delivery, message, deps);
    case 'webhook':
      return toOutcome(
        await post(delivery, delivery.target, { document: webhookDocument(delivery, message, deps), deps }),
      );
    default:
      return { result: 'failed', isPermanent: true, error: 'Unknown target type.' };
  }
}

async function sendMail(to: string, message: ReportMessage, { mailer, logger }: DeliverDeps): Promise<DeliveryOutcome> {
  if (mailer === null) {
    return {
      result: 'failed',
      isPermanent: true,
      error: 'This installation has no mail server. The operator must set SMTP_URL.',
    };
  }
  const outcome = await mailer.send({ to, ...(await buildReportMail(message, logger)) });
  switch (outcome.result) {
    case 'accepted':
      return { result: 'delivered' };
    case 'refused': {
      const { isPermanent, code } = outcome;
      return { result: 'failed', isPermanent, error: `The mail server rejected the email (${code}).` };
    }
    case 'unreachable':
      return { result: 'failed', isPermanent: false, error: `Could not reach the mail server (${outcome.code}).` };
  }
}

/**
 * Sends a report to a Slack incoming webhook. The subscription's target is the webhook's URL, or a channel to which the
 * project's own webhook posts.
 */
async function sendToSlack(
  delivery: ClaimedDelivery,
  message: ReportMessage,
  deps: DeliverDeps,
): Promise<DeliveryOutcome> {
  const isAddress = /^https?:\/\//.test(delivery.target);
  const address = isAddress ? delivery.target : delivery.slack_incoming_webhook?.trim();
  if (!address) {
    const error =
      'The project has no slack_incoming_webhook. Set one in the project, or set a webhook URL in the subscription.';
    return { result: 'failed', isPermanent: true, error };
  }
  const channel = delivery.target.split('|')[0];
  const blocks = buildSlackBlocks(message, pictureOf(delivery, deps));
  return toOutcome(await post(delivery, address, { document: isAddress ? blocks : { channel, ...blocks }, deps }));
}

/** Returns a picture's URL for Slack and webhooks. Anyone who knows a report's ID can access its pictures. */
function pictureOf(
  { report_id: reportId, allow_publicly_shared_resources: isAllowed }: ClaimedDelivery,
  { publicApiUrl }: DeliverDeps,
) {
  return (insight: ReportedInsight, at: number) =>
    reportId === null || !isAllowed || !hasPicture(insight) ? null : createPictureLink(publicApiUrl, reportId, at);
}

function webhookDocument(
  delivery: ClaimedDelivery,
  { title, summary, link, invite, end }: ReportMessage,
  deps: DeliverDeps,
) {
  const { content } = delivery;
  const picture = pictureOf(delivery, deps);
  return {
    delivery_id: delivery.id,
    subscription_id: delivery.subscription_id,
    project_id: delivery.environment_id,
    occasion: delivery.occasion,
    due_at: delivery.due_at.toISOString(),
    title,
    summary,
    url: link,
    dashboard: delivery.dashboard,
    insight: delivery.insight,
    invite_message: invite?.message ?? null,
    end,
    timezone: content?.timezone ?? null,
    total_insights: content?.total ?? 0,
    insights: (content?.insights ?? []).map((insight, at) => ({
      ...toWebhookReport(insight),
      picture_url: picture(insight, at),
    })),
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
    const { code } = outcome;
    const isPermanent = ['EPRIVATEADDRESS', 'ERR_INVALID_URL'].includes(code);
    return { result: 'failed', isPermanent, error: `The webhook URL ${describeOutboundFailure(code)} (${code}).` };
  }
  const { status } = outcome;
  if (status >= 200 && status < 300) return { result: 'delivered' };
  const mayChange = status >= 500 || status === 408 || status === 429;
  return { result: 'failed', isPermanent: !mayChange, error: `The webhook URL responded with ${status}.` };
}

/**
 * Creates a delivery's message. If a subscription has both an insight and a dashboard, the insight takes precedence
 * (docs/api/subscriptions.md).
 */
function messageOf(delivery: ClaimedDelivery, deps: DeliverDeps): ReportMessage {
  const { insight, dashboard, environment_name, subject_name, insight_short_id: shortId, occasion } = delivery;
  const links = createReportLinks(deps, delivery.environment_id);
  const [name, link] =
    insight !== null
      ? [subject_name || `Insight ${insight}`, links.insight({ id: insight, short_id: shortId ?? '' })]
      : dashboard !== null
        ? [subject_name || `Dashboard ${dashboard}`, links.dashboard(dashboard)]
        : [environment_name, links.project];
  const isEnded = occasion === 'ended';
  const kind = insight === null ? 'dashboard' : 'insight';
  const isFirst = occasion === 'created' || occasion === 'target_changed';
  return {
    title: delivery.title?.trim() || name,
    summary: describeRule(delivery),
    nextAt: delivery.next_delivery_date,
    link: isEnded ? null : link,
    linkOf: links.insight,
    invite: isFirst ? { by: delivery.created_by, message: delivery.invite_message?.trim() || null } : null,
    end: isEnded ? `The ${kind} “${name}” was deleted. No more reports will be sent.` : null,
    unsubscribe: isEnded ? null : createUnsubscribeLink(deps.publicApiUrl, delivery.unsubscribe_id),
    content: delivery.content,
  };
}
