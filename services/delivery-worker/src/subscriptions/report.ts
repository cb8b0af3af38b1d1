import { describeRule } from '@millrace/schedule';
import type { ClaimedDelivery } from './delivery-store.ts';

/** What a report says, however it is sent. */
export interface Report {
  title: string;
  /** When it comes, in words. */
  summary: string;
  /** Where the dashboard or insight is; null when nobody has told us where the application is. */
  link: string | null;
  inviteMessage: string | null;
}

/** Insight before dashboard when a subscription has both (docs/api-rules.md#subscriptions). */
export function reportOf(delivery: ClaimedDelivery, publicAppUrl: string | undefined): Report {
  const { insight, dashboard, environment_id, environment_name } = delivery;
  const [name, path] =
    insight !== null
      ? [`Insight ${insight}`, `/insights/${insight}`]
      : dashboard !== null
        ? [`Dashboard ${dashboard}`, `/dashboard/${dashboard}`]
        : [environment_name, ''];
  return {
    title: delivery.title?.trim() || name,
    summary: describeRule(delivery),
    link: publicAppUrl === undefined ? null : `${publicAppUrl.replace(/\/+$/, '')}/project/${environment_id}${path}`,
    inviteMessage: delivery.invite_message?.trim() || null,
  };
}

/** As plain text, for mails. */
export function toText({ title, summary, link, inviteMessage }: Report): string {
  const end = `This report is ${summary}.`;
  return [inviteMessage, title, link, end].filter((part) => part !== null).join('\n\n');
}
