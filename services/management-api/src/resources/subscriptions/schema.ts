// Subscriptions and deliveries as requests and answers have them.

import { subscriptionTargetTypes } from '@millrace/contracts';
import { orNull } from '@millrace/http';
import { mostInsights } from '@millrace/insights/report';
import { frequencies, weekdays } from '@millrace/schedule';
import { Type } from 'typebox';
import { embeddedUser, embeddedUserExample } from '../embedded-users/embedded-user.ts';

const largest = 2_147_483_647;
const oneOf = <const T extends readonly string[]>(words: T, description: string) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...words], description });
const time = Type.String({ format: 'date-time' });

const chosenInsights =
  'Numbers of the insights of the dashboard that reports show, in the order of the dashboard. Empty: the first six.';

const fields = {
  dashboard: orNull(
    Type.Integer({ 'x-reference': true }),
    'Number of a dashboard of the project. When it is deleted, the next report says so and is the last one.',
  ),
  insight: orNull(
    Type.Integer({ 'x-reference': true }),
    'Number of an insight, as `dashboard`. When both are given reports are about the insight.',
  ),
  target_type: oneOf(subscriptionTargetTypes, 'How reports are sent.'),
  target_value: Type.String({
    minLength: 1,
    description:
      'Where to: for `email` addresses separated by commas; for `slack` `<channel id>|#<name>`, posted through the ' +
      "project's `slack_incoming_webhook`, or the address of an incoming webhook; for `webhook` an http(s) address. " +
      'Addresses of the web are shown to administrators whose key may ' +
      'change it; to others as `https://example.com/********`, which changes nothing when it is sent back.',
  }),
  frequency: oneOf(frequencies, 'Unit of `interval`.'),
  interval: Type.Integer({ minimum: 1, maximum: largest, description: 'Every how many units of `frequency`.' }),
  byweekday: orNull(Type.Array(oneOf(weekdays, 'A weekday.')), 'Only on these weekdays.'),
  bysetpos: orNull(
    Type.Integer({ minimum: -largest - 1, maximum: largest }),
    'With `byweekday`: only the n-th such day of each period, from its end when negative. 1 to 366 or -1 to -366.',
  ),
  count: orNull(Type.Integer({ minimum: 1, maximum: largest }), 'Number of reports in all, counted from `start_date`.'),
  start_date: Type.String({
    format: 'date-time',
    description: 'From when on, and at what time of day by the clocks of the project’s time zone.',
  }),
  until_date: orNull(time, 'The last moment at which a report may be sent.'),
  deleted: Type.Boolean({ description: 'Whether it is deleted; nothing is sent then.' }),
  title: orNull(Type.String({ maxLength: 100 }), 'Title of the reports.'),
  enabled: Type.Boolean({ description: 'Whether reports are sent by the rule. True by default.' }),
  dashboard_export_insights: Type.Array(Type.Integer(), { description: chosenInsights }),
  invite_message: orNull(Type.String({ maxLength: 10_000 }), 'Message for those who receive it for the first time.'),
};

/** A subscription, its fields in the order of PostHog's API (docs/api-rules.md#routes-and-fields). */
export const subscription = Type.Object(
  {
    id: Type.Integer({ description: 'Number of the subscription.' }),
    dashboard: orNull(Type.Integer(), 'Number of the dashboard the reports are about.'),
    insight: orNull(Type.Integer(), 'Number of the insight the reports are about.'),
    target_type: fields.target_type,
    target_value: fields.target_value,
    frequency: fields.frequency,
    interval: fields.interval,
    byweekday: fields.byweekday,
    bysetpos: fields.bysetpos,
    count: fields.count,
    start_date: fields.start_date,
    until_date: fields.until_date,
    created_at: Type.String({ format: 'date-time', description: 'When it was made.' }),
    created_by: orNull(embeddedUser, 'Who made it; null when the user was deleted.'),
    deleted: fields.deleted,
    title: fields.title,
    enabled: fields.enabled,
    dashboard_export_insights: fields.dashboard_export_insights,
    summary: Type.String({ description: 'The rule in words.' }),
    next_delivery_date: orNull(time, 'When the next report is due; null when there will be none.'),
    invite_message: Type.Null({ description: 'Not kept; always null.' }),
  },
  { title: 'Subscription' },
);

const { target_type, target_value, frequency, start_date, ...rest } = fields;
const optional = {
  interval: Type.Optional(rest.interval),
  byweekday: Type.Optional(rest.byweekday),
  bysetpos: Type.Optional(rest.bysetpos),
  count: Type.Optional(rest.count),
  until_date: Type.Optional(rest.until_date),
  deleted: Type.Optional(rest.deleted),
  title: Type.Optional(rest.title),
  enabled: Type.Optional(rest.enabled),
  dashboard_export_insights: Type.Optional(
    orNull(
      Type.Array(Type.Integer(), { maxItems: mostInsights }),
      `${chosenInsights} Null: empty. At most ${mostInsights}.`,
    ),
  ),
  send_test_now: Type.Optional(
    orNull(
      Type.Boolean(),
      'Whether a report goes to all targets at once. False: to none. By default a new subscription that is enabled sends one to all targets, a change to targets that are new.',
    ),
  ),
  invite_message: Type.Optional(rest.invite_message),
};
const subject = { dashboard: Type.Optional(rest.dashboard), insight: Type.Optional(rest.insight) };

/** For POST and PUT. In the order of the answer: the first wrong field is the one reported. */
export const newSubscription = Type.Object(
  {
    ...subject,
    target_type,
    target_value,
    frequency,
    interval: optional.interval,
    byweekday: optional.byweekday,
    bysetpos: optional.bysetpos,
    count: optional.count,
    start_date,
    until_date: optional.until_date,
    deleted: optional.deleted,
    title: optional.title,
    enabled: optional.enabled,
    dashboard_export_insights: optional.dashboard_export_insights,
    send_test_now: optional.send_test_now,
    invite_message: optional.invite_message,
  },
  { title: 'SubscriptionToCreate' },
);

export const subscriptionChanges = Type.Object(
  {
    ...subject,
    target_type: Type.Optional(target_type),
    target_value: Type.Optional(target_value),
    frequency: Type.Optional(frequency),
    interval: optional.interval,
    byweekday: optional.byweekday,
    bysetpos: optional.bysetpos,
    count: optional.count,
    start_date: Type.Optional(start_date),
    until_date: optional.until_date,
    deleted: optional.deleted,
    title: optional.title,
    enabled: optional.enabled,
    dashboard_export_insights: optional.dashboard_export_insights,
    send_test_now: optional.send_test_now,
    invite_message: optional.invite_message,
  },
  { title: 'SubscriptionChanges' },
);

export const newSubscriptionExample = {
  target_type: 'email',
  target_value: 'ada@example.com,grace@example.com',
  frequency: 'weekly',
  byweekday: ['monday'],
  start_date: '2026-11-02T09:00:00Z',
  title: 'Weekly sign-ups',
  invite_message: 'The numbers you asked for.',
};

export const subscriptionExample = {
  id: 1,
  dashboard: null,
  insight: null,
  target_type: 'email',
  target_value: 'ada@example.com,grace@example.com',
  frequency: 'weekly',
  interval: 1,
  byweekday: ['monday'],
  bysetpos: null,
  count: null,
  start_date: '2026-11-02T09:00:00Z',
  until_date: null,
  created_at: '2026-11-01T12:00:00Z',
  created_by: embeddedUserExample,
  deleted: false,
  title: 'Weekly sign-ups',
  enabled: true,
  dashboard_export_insights: [],
  summary: 'sent every week',
  next_delivery_date: '2026-11-02T09:00:00Z',
  invite_message: null,
};

/** A report that was, is or will be sent, and what came of it. */
export const delivery = Type.Object(
  {
    id: Type.String({
      format: 'uuid',
      description: 'Id; webhooks get it as `delivery_id`, the same at every attempt.',
    }),
    occasion: Type.String({
      description:
        '`scheduled`, `created` (the subscription is new), `target_changed` (the target is new), `test` (`send_test_now`) or `ended` (what it was about was deleted: the last one).',
    }),
    due_at: Type.String({ format: 'date-time', description: 'When it was due.' }),
    target: Type.String({ description: 'Where to: one e-mail address, or the whole `target_value`.' }),
    status: Type.String({ description: '`pending`, `delivered`, `failed` (given up) or `cancelled`.' }),
    attempts: Type.Integer({ description: 'How often it was tried.' }),
    error: Type.Union([Type.String(), Type.Null()], { description: 'Why the last attempt failed.' }),
    created_at: Type.String({ format: 'date-time', description: 'When it was decided.' }),
    finished_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When it was delivered or given up.',
    }),
  },
  { title: 'SubscriptionDelivery' },
);

export const deliveryExample = {
  id: '0193f0c5-7a4e-7000-8000-0000000000e1',
  occasion: 'scheduled',
  due_at: '2026-11-02T09:00:00Z',
  target: 'ada@example.com',
  status: 'failed',
  attempts: 1,
  error: 'The mail server refused the mail (550).',
  created_at: '2026-11-02T09:00:01Z',
  finished_at: '2026-11-02T09:00:02Z',
};

const figure = Type.Object(
  {
    label: Type.String({ description: 'Name of the series.' }),
    value: Type.Number({ description: 'The number of the range.' }),
    unit: oneOf(['number', 'percent'], 'What it counts in.'),
    of: oneOf(['total', 'average'], 'How the numbers of several times became one.'),
    before: orNull(Type.Number(), 'The same of the time before; null where there is none.'),
    change: orNull(Type.Number(), 'Difference to it in percent; of percentages in points.'),
  },
  { title: 'ReportFigure' },
);

const reportedInsight = Type.Object(
  {
    id: Type.Integer({ description: 'Number of the insight.' }),
    short_id: Type.String({ description: 'Its short id.' }),
    name: Type.String({ description: 'What it was called.' }),
    description: Type.String({ description: 'What it was described as.' }),
    query_kind: Type.String({ description: 'Kind of its query; empty where it has none.' }),
    date_from: orNull(time, 'Begin of the range.'),
    date_to: orNull(time, 'Its last moment.'),
    figures: Type.Array(figure, { description: 'Numbers to be read at a glance, at most 10.' }),
    table: Type.Object({
      columns: Type.Array(Type.String()),
      rows: Type.Array(Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]))),
    }),
    left_out: Type.Object({ rows: Type.Integer(), figures: Type.Integer() }, { description: 'What there was beyond.' }),
    error: orNull(Type.String(), 'Why there are no numbers.'),
  },
  { title: 'ReportInsight' },
);

/** A report as its receivers read it. */
export const shownReport = Type.Object(
  {
    subject: Type.String({ description: 'Subject of mails.' }),
    text: Type.String({ description: 'The whole as text.' }),
    total_insights: Type.Integer({
      description: 'How many insights the dashboard has; six at most are in the report.',
    }),
    insights: Type.Array(reportedInsight, { description: 'In the order of the dashboard.' }),
  },
  { title: 'Report' },
);

export const sentReport = Type.Object(
  { ...delivery.properties, report: orNull(shownReport, 'What was sent; null where there are no numbers.') },
  { title: 'SentReport' },
);

export const reportExample = {
  subject: 'Weekly sign-ups',
  text: 'Weekly sign-ups\n\n16 November 2026 to 22 November 2026\nsigned up: 120 (+20 % against 100 before)',
  total_insights: 1,
  insights: [
    {
      id: 12,
      short_id: 'aZ4kQ9xY',
      name: 'Sign-ups',
      description: '',
      query_kind: 'TrendsQuery',
      date_from: '2026-11-16T00:00:00+00:00',
      date_to: '2026-11-22T23:59:59.999999+00:00',
      figures: [
        { label: 'signed up', value: 120, unit: 'number' as const, of: 'total' as const, before: 100, change: 20 },
      ],
      table: { columns: ['time', 'signed up'], rows: [['2026-11-16', 120]] },
      left_out: { rows: 0, figures: 0 },
      error: null,
    },
  ],
};
