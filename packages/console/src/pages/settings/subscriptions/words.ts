import { formatCount } from '../../../words.ts';
import type { Delivery, Frequency, TargetType, Weekday } from './subscription.ts';

const list = new Intl.ListFormat('en', { type: 'conjunction' });
const ordinals = new Intl.PluralRules('en', { type: 'ordinal' });
const endings: Partial<Record<Intl.LDMLPluralRule, string>> = { one: 'st', two: 'nd', few: 'rd' };
const units: Record<Frequency, string> = { daily: 'day', weekly: 'week', monthly: 'month', yearly: 'year' };
const numbers: Record<number, string> = { 1: 'first', 2: 'second', 3: 'third', 4: 'fourth' };
const ordinal = (number: number) => `${number}${endings[ordinals.select(number)] ?? 'th'}`;
const nth = (number: number) => numbers[number] ?? ordinal(number);
const fromEnd = (number: number) => (number === 1 ? 'last' : `${nth(number)} to last`);

export const text = {
  what: 'Subscriptions',
  one: 'This subscription',
  about: 'Reports that are sent automatically by email, to a Slack channel, or to a webhook.',
  today: 'A report contains the current numbers, how they changed, a picture of each chart, and a link.',
  report: 'Report',
  subject: 'Subject:',
  noReport:
    'There is no report to show. Either the numbers are still being computed, or the insight or dashboard was deleted.',
  show: 'Show',
  showReport: (to: string) => `Show the report to ${to}`,
  newOne: 'New subscription',
  all: 'All subscriptions',
  deletedOnes: 'Deleted subscriptions',
  active: 'Active subscriptions',
  mayNot: 'You have read-only access to subscriptions.',
  columns: { title: 'Report', to: 'Recipients', next: 'Next report' },
  emptyTitle: 'No subscriptions yet',
  empty: 'Choose who gets a report and when. By default, the first report is sent immediately. Reports can be sent by:',
  types: { email: 'Email', slack: 'Slack', webhook: 'Webhook' } satisfies Record<TargetType, string>,
  needs: {
    email: 'Up to 100 addresses, separated by commas. Each recipient gets a separate email.',
    slack:
      'An incoming webhook URL. To use the project’s webhook, enter the channel ID and name instead, such as C0123456|#growth.',
    webhook:
      'An HTTP or HTTPS URL that receives the report as JSON in a POST request. A failed request is retried up to five times.',
  } satisfies Record<TargetType, string>,
  noneDeleted: 'No deleted subscriptions',
  noneDeletedText: 'Deleted subscriptions are listed here, and you can restore them.',
  reportOf: 'Reports on',
  noMail: 'Email is not set up on this server. Email reports fail until an operator sets it up.',
  ofInsight: (id: number) => `Insight ${id}`,
  ofDashboard: (id: number) => `Dashboard ${id}`,
  more: (count: number) => `and ${count} more`,
  noNext: 'no more reports',
  by: { email: 'by email', slack: 'to Slack', webhook: 'to a webhook' } satisfies Record<TargetType, string>,
  sentence: (rule: string, by: string) => `${rule.charAt(0).toUpperCase()}${rule.slice(1)}, ${by}.`,
  nextOn: (when: string) => `The next report is due ${when}.`,
  noMore: 'No more reports are due.',
  pause: 'Pause',
  resume: 'Resume',
  paused: 'paused',
  pausedNote: 'Paused. No reports are sent until you resume this subscription.',
  sendTest: 'Send a test report now',
  testSent: 'A test report is on its way to every recipient. It will appear below.',
  onlyInsights: (names: readonly string[]) => `Insights in the report: ${names.join(', ')}`,
  madeBy: (who: string, when: string) => `Created by ${who} on ${when}`,
  deletedUser: 'a deleted user',
  change: 'Edit',
  delete: 'Delete',
  restore: 'Restore',
  deletedNote:
    'This subscription is deleted, and no reports are sent. Restore it to continue with the next scheduled report.',
  deleteTitle: (title: string) => `Delete “${title}”?`,
  deleteText:
    'No more reports will be sent, not even those that are already waiting. You can restore the subscription from the list of deleted subscriptions.',
  masked: 'Only administrators can see the full URL.',

  every: {
    nth: (interval: number, unit: string) => (interval === 1 ? `every ${unit}` : `every ${nth(interval)} ${unit}`),
    unit: (frequency: Frequency) => units[frequency],
    on: (what: string, period: string) => `${period} on ${what}`,
    only: (days: string) => `, only on ${days}`,
    the: (position: string, day: string) => `the ${position} ${day}`,
    each: (days: string) => `every ${days}`,
    monthDay: (day: number) => `the ${ordinal(day)}`,
    /** A negative position counts from the end of the month. */
    position: (position: number) => (position < 0 ? fromEnd(-position) : nth(position)),
    at: (rule: string, time: string, zone: string) => `${rule} at ${time} ${zone}`,
    times: (count: number) => `, ${formatCount(count, 'time')} in total`,
    until: (day: string) => `, until ${day}`,
    list: (days: readonly string[]) => list.format(days),
  },
  weekdays: {
    monday: 'Monday',
    tuesday: 'Tuesday',
    wednesday: 'Wednesday',
    thursday: 'Thursday',
    friday: 'Friday',
    saturday: 'Saturday',
    sunday: 'Sunday',
  } satisfies Record<Weekday, string>,
  groups: { day: 'day', workday: 'weekday (Monday to Friday)' },

  sent: 'Deliveries',
  sentText: 'Reports sent to each recipient in the last 90 days, unless your operator has set a different period.',
  noneSentTitle: 'No deliveries yet',
  noneSent: 'Reports appear here when they are due, or when you send a test report.',
  sentColumns: { state: 'Status', to: 'Recipient', due: 'Due', why: 'Reason', report: 'Report' },
  states: { pending: 'waiting', delivered: 'sent', failed: 'failed', cancelled: 'cancelled' } satisfies Record<
    Delivery['status'],
    string
  >,
  retrying: 'retrying',
  occasions: {
    scheduled: 'scheduled report',
    created: 'new subscription',
    target_changed: 'new recipient',
    test: 'test report',
    ended: 'insight or dashboard deleted',
  } as Record<string, string>,
  tries: (count: number) => `${formatCount(count, 'attempt')}`,
  theySaid: 'Error',
  /** Advice about failed deliveries, by the error message that the worker stored. */
  reasons: [
    [
      /SMTP_URL/,
      'This installation cannot send email yet. After its operator has set SMTP_URL, restore the subscription or wait for the next scheduled report.',
    ],
    [
      /rejected the email \(5/,
      'The mail server permanently rejected this address. Check the spelling, and make sure that the mailbox exists.',
    ],
    [/rejected the email/, 'The mail server temporarily rejected the email. It is retried automatically.'],
    [
      /Could not reach the mail server/,
      'The mail server did not respond. The email is retried automatically. If the problem continues, contact the operator.',
    ],
    [
      /emails per hour/,
      'The organization has reached its hourly email limit. This email will be sent within the next hour.',
    ],
    [
      /slack_incoming_webhook/,
      'The project does not have a Slack incoming webhook. Set one in the project settings, or enter a webhook URL in this subscription.',
    ],
    [
      /EPRIVATEADDRESS/,
      'The URL leads to a private network, which this installation does not allow. Its operator can allow it with ALLOW_PRIVATE_DESTINATIONS.',
    ],
    [/responded with (404|410)/, 'The URL no longer exists. Edit the subscription and enter the new URL.'],
    [/responded with (401|403)/, 'The server denied access. Edit the subscription and check the secret in the URL.'],
    [/responded with 5/, 'The remote server failed. The report is retried automatically, up to five times.'],
    [/ENOTFOUND|ERR_INVALID_URL/, 'The URL could not be found. Edit the subscription and check the spelling.'],
    [
      /ECONNREFUSED|ETIMEDOUT|Timeout/,
      'The remote server did not respond. The report is retried automatically, up to five times.',
    ],
    [/attempt was interrupted/, 'The worker stopped during each attempt. Contact the operator.'],
  ] as const,

  form: {
    change: (title: string) => `Edit “${title}”`,
    title: 'Title',
    titleHint: 'The subject of the email, and the first line of every report. For example, “Sign-ups this week”.',
    about: 'Insight or dashboard',
    aboutHint: 'If the insight or dashboard is deleted, recipients get one last notice and the reports stop.',
    choose: 'Choose an insight or a dashboard',
    project: 'Project only (title and link)',
    notOffered: (why: string) => `The list could not be loaded. ${why}`,
    chosenInsights: 'Insights in the report',
    chosenInsightsHint: 'Choose up to six. If you choose none, the report contains the dashboard’s first six insights.',
    sendFirst: 'Also send a report now',
    lastDayHint: (day: number) =>
      `Months without day ${day} are skipped. To get a report every month, choose “the last day of the month”.`,
    dashboards: 'Dashboards',
    insights: 'Insights',
    preview: 'Preview email',
    target: 'Destination',
    values: { email: 'Email addresses', slack: 'Webhook URL or channel', webhook: 'URL' } satisfies Record<
      TargetType,
      string
    >,
    keepMasked:
      'Only administrators can see the full URL. Leave the field unchanged to keep the URL, or enter another one.',
    message: 'Message for new recipients',
    messageHint: 'The message is included only in the first report to new recipients, and is not stored.',
    when: 'Schedule',
    every: 'Every',
    units: { daily: 'days', weekly: 'weeks', monthly: 'months', yearly: 'years' } satisfies Record<Frequency, string>,
    unit: 'Time unit',
    days: { weekly: 'On', daily: 'Only on' },
    daysHint: {
      weekly: 'If you choose none, reports are sent on the weekday of the first scheduled report.',
      daily: 'If you choose none, reports are sent every day.',
    },
    position: 'On',
    positions: {
      date: 'the same day as the first scheduled report',
      end: 'the last day of the month',
      1: 'the first',
      2: 'the second',
      3: 'the third',
      4: 'the fourth',
      '-1': 'the last',
      each: 'every',
      kept: 'unchanged',
    },
    day: 'Day',
    first: 'First scheduled report',
    firstHint: (zone: string) =>
      `All reports are sent at this local time (${zone}), including during daylight saving time.`,
    until: 'Until',
    untilHint: 'Leave this field empty for no end date.',
    count: 'Number of reports',
    countHint: 'Counted from the first scheduled report. Leave this field empty for no limit.',
    ends: 'Schedule end',
    save: 'Save',
    create: 'Create subscription',
    newTargets: 'New recipients immediately get a first report.',
  },
};

/** Returns advice about a delivery error. Returns an empty string if no advice is available. */
export const findErrorAdvice = (error: string) => text.reasons.find(([pattern]) => pattern.test(error))?.[1] ?? '';
