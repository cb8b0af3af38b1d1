import { counted } from '../../../words.ts';
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
  about: 'Reports that are sent by themselves: by mail, to a Slack channel, or to an address of yours.',
  today: 'A report has the numbers of its moment, how they changed, a picture of each chart, and a link.',
  report: 'Report',
  subject: 'Subject:',
  noReport: 'It has no numbers: they are computed, or it tells that what it was about was deleted.',
  show: 'Show',
  showReport: (to: string) => `Show what was sent to ${to}`,
  newOne: 'New subscription',
  all: 'All subscriptions',
  deletedOnes: 'Deleted ones',
  active: 'Active ones',
  mayNot: 'Your level in this project does not allow to change subscriptions.',
  columns: { title: 'Report', to: 'To', next: 'Next' },
  emptyTitle: 'No subscription yet',
  empty: 'Choose who gets a report and when. They get the first at once, and then one each time:',
  types: { email: 'E-mail', slack: 'Slack', webhook: 'Webhook' } satisfies Record<TargetType, string>,
  needs: {
    email: 'Addresses separated by commas, up to 100. Each gets a mail of their own.',
    slack: 'The address of an incoming webhook, or channel and name for the project’s own: C0123456|#growth.',
    webhook: 'An http(s) address, which is sent JSON by POST. What fails is sent again, up to five times.',
  } satisfies Record<TargetType, string>,
  noneDeleted: 'None is deleted',
  noneDeletedText: 'A deleted subscription stays here and can be brought back.',
  ofInsight: (id: number) => `Insight ${id}`,
  ofDashboard: (id: number) => `Dashboard ${id}`,
  more: (count: number) => `and ${count} more`,
  noNext: 'none any more',
  by: { email: 'by mail', slack: 'to Slack', webhook: 'to an address' } satisfies Record<TargetType, string>,
  sentence: (rule: string, by: string) => `${rule.charAt(0).toUpperCase()}${rule.slice(1)}, ${by}.`,
  nextOn: (when: string) => `The next is due ${when}.`,
  noMore: 'No more are due.',
  pause: 'Pause',
  resume: 'Resume',
  paused: 'paused',
  pausedNote: 'Paused. No reports are sent until you resume this subscription.',
  sendTest: 'Send a test report now',
  testSent: 'A test report is on its way to every recipient. It appears below.',
  onlyInsights: (names: readonly string[]) => `Insights in the report: ${names.join(', ')}`,
  madeBy: (who: string, when: string) => `Made by ${who} on ${when}`,
  somebody: 'somebody who is gone',
  change: 'Change',
  delete: 'Delete',
  restore: 'Bring it back',
  deletedNote: 'It is deleted: nothing is sent. Bring it back to go on from the next date.',
  deleteTitle: (title: string) => `Delete “${title}”?`,
  deleteText:
    'Nothing more is sent, also what waits to be sent. You find it among the deleted ones and can bring it back.',
  masked: 'Only administrators see the whole address.',

  every: {
    nth: (interval: number, unit: string) => (interval === 1 ? `every ${unit}` : `every ${nth(interval)} ${unit}`),
    unit: (frequency: Frequency) => units[frequency],
    on: (what: string, period: string) => `${period} on ${what}`,
    only: (days: string) => `, only on ${days}`,
    the: (position: string, day: string) => `the ${position} ${day}`,
    each: (days: string) => `each ${days}`,
    monthDay: (day: number) => `the ${ordinal(day)}`,
    /** Of the n-th, from the end when negative. */
    position: (position: number) => (position < 0 ? fromEnd(-position) : nth(position)),
    at: (rule: string, time: string, zone: string) => `${rule} at ${time} ${zone}`,
    times: (count: number) => `, ${counted(count, 'time')} in all`,
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
  groups: { day: 'day', workday: 'day from Monday to Friday' },

  sent: 'What was sent',
  sentText: 'Each report to each recipient, of the last 90 days unless your operator keeps them for another time.',
  noneSentTitle: 'Nothing sent yet',
  noneSent: 'Reports appear here when they are due, or when you send a test report.',
  sentColumns: { state: 'State', to: 'To', due: 'Due', why: 'Why', report: 'Report' },
  states: { pending: 'waiting', delivered: 'sent', failed: 'failed', cancelled: 'cancelled' } satisfies Record<
    Delivery['status'],
    string
  >,
  retrying: 'trying again',
  occasions: {
    scheduled: 'its time had come',
    created: 'the subscription was new',
    target_changed: 'the recipient was new',
    test: 'a test was requested',
    ended: 'what it was about was deleted',
  } as Record<string, string>,
  tries: (count: number) => `${counted(count, 'try', 'tries')}`,
  theySaid: 'What came back',
  /** What to do, by what the worker noted. */
  reasons: [
    [
      /SMTP_URL/,
      'This installation sends no mail yet. Its operator sets SMTP_URL; then bring the subscription back or wait for the next date.',
    ],
    [
      /refused the mail \(5/,
      'The mail server refuses this address for good. Check how it is spelled, and that the mailbox exists.',
    ],
    [/refused the mail/, 'The mail server refused for now. It is tried again by itself.'],
    [
      /mail server could not be reached/,
      'The mail server does not answer. It is tried again by itself; if it goes on, tell the operator.',
    ],
    [/mails an hour/, 'The organization has sent as many mails as it may in an hour. This one follows in the next.'],
    [
      /slack_incoming_webhook/,
      'The project has no incoming webhook of Slack. Set one, or give this subscription an address of its own.',
    ],
    [
      /EPRIVATEADDRESS/,
      'The address lies in a private network, which this installation does not allow. Its operator can (ALLOW_PRIVATE_DESTINATIONS).',
    ],
    [/answered (404|410)/, 'Nothing listens at this address any more. Enter the new one under Change.'],
    [/answered (401|403)/, 'The address refuses what is sent. Check its secret under Change.'],
    [/answered 5/, 'The other server failed. It is tried again by itself, up to five times.'],
    [/ENOTFOUND|ERR_INVALID_URL/, 'The address cannot be found. Check how it is spelled under Change.'],
    [
      /ECONNREFUSED|ETIMEDOUT|Timeout/,
      'The other server does not answer. It is tried again by itself, up to five times.',
    ],
    [/attempt was interrupted/, 'The worker stopped each time while this was under way. Ask its operator.'],
  ] as const,

  form: {
    change: (title: string) => `Change “${title}”`,
    title: 'Title',
    titleHint: 'Subject of the mail, and the first line everywhere. Like “Sign-ups of the week”.',
    about: 'About',
    aboutHint: 'If it is deleted, one last notice is sent and the reports stop.',
    choose: 'Choose an insight or a dashboard',
    project: 'The project alone: title and link',
    notOffered: (why: string) => `The list could not be loaded. ${why}`,
    chosenInsights: 'Insights in the report',
    chosenInsightsHint: 'Choose up to six. If you choose none, the report has the first six insights of the dashboard.',
    sendFirst: 'Send a first report now',
    lastDayHint: (day: number) =>
      `Months without day ${day} are skipped. To get a report every month, choose “the last day of the month”.`,
    dashboards: 'Dashboards',
    insights: 'Insights',
    preview: 'Preview the mail',
    target: 'Where to',
    values: { email: 'Addresses', slack: 'Channel or address', webhook: 'Address' } satisfies Record<
      TargetType,
      string
    >,
    keepMasked: 'Only administrators see the whole address. Leave it as it is, or enter another.',
    message: 'Message for new recipients',
    messageHint: 'It appears in their first report only and is not stored.',
    when: 'When',
    every: 'Every',
    units: { daily: 'days', weekly: 'weeks', monthly: 'months', yearly: 'years' } satisfies Record<Frequency, string>,
    unit: 'Unit',
    days: { weekly: 'On', daily: 'Only on' },
    daysHint: { weekly: 'None chosen: on the weekday of the first date.', daily: 'None chosen: on all.' },
    position: 'On',
    positions: {
      date: 'the day of the first date',
      end: 'the last day of the month',
      1: 'the first',
      2: 'the second',
      3: 'the third',
      4: 'the fourth',
      '-1': 'the last',
      each: 'each',
      kept: 'as it is',
    },
    day: 'Day',
    first: 'From, and at this time of day',
    firstHint: (zone: string) => `By the clocks of ${zone}, in summer and winter.`,
    until: 'Until',
    untilHint: 'Empty: without an end.',
    count: 'How many in all',
    countHint: 'Counted from the first date. Empty: without an end.',
    ends: 'When it ends',
    save: 'Save',
    create: 'Create subscription',
    newTargets: 'New recipients get a first report immediately.',
  },
};

/** What to do about an error, in words; empty where the worker's own words are all there is. */
export const reasonOf = (error: string) => text.reasons.find(([pattern]) => pattern.test(error))?.[1] ?? '';
