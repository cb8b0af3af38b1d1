import type { Mailer } from '@millrace/mail';
import { type PostOutcome, postJson } from '../outbound/post-json.ts';
import type { ClaimedDelivery } from './delivery-store.ts';
import { type Report, reportOf, toText } from './report.ts';

export interface DeliverDeps {
  /** Null when the installation has no mail server. */
  mailer: Mailer | null;
  publicAppUrl: string | undefined;
  /** Whether webhooks may lead into private networks. */
  mayBePrivate: boolean;
  postTimeoutMs: number;
}

/** What came of one attempt. A permanent failure would come again. The sentence is for the subscription's owner. */
export type DeliveryOutcome =
  | { result: 'delivered' }
  | { result: 'cancelled' }
  | { result: 'failed'; isPermanent: boolean; error: string };

/** Sends one report once. Never throws. */
export async function deliver(delivery: ClaimedDelivery, deps: DeliverDeps): Promise<DeliveryOutcome> {
  if (delivery.deleted) return { result: 'cancelled' };
  const report = reportOf(delivery, deps.publicAppUrl);
  switch (delivery.target_type) {
    case 'email':
      return sendMail(delivery.target, report, deps.mailer);
    case 'slack':
      return sendToSlack(delivery, report, deps);
    case 'webhook':
      return toOutcome(await post(delivery, delivery.target, { document: webhookDocument(delivery, report), deps }));
    default:
      return { result: 'failed', isPermanent: true, error: 'Nobody knows how to send this type of report.' };
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
    const error = "The project's slack_incoming_webhook is not set, so there is no way to Slack.";
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
