import { subscriptionTargetTypes } from '@millrace/contracts';
import { orNull } from '@millrace/http';
import { maxInsights } from '@millrace/reports';
import { frequencies, weekdays } from '@millrace/schedule';
import { Type } from 'typebox';
import { embeddedUser, embeddedUserExample } from '../../identity/embedded-users/embedded-user.ts';

const largest = 2_147_483_647;
const oneOf = <const T extends readonly string[]>(words: T, description: string) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...words], description });
const time = Type.String({ format: 'date-time' });

const chosenInsights =
  'IDs of the dashboard insights that reports show, in the order of the dashboard. If empty, reports show the first ' +
  'six.';

const fields = {
  dashboard: orNull(
    Type.Integer({ 'x-reference': true }),
    'ID of the dashboard that reports are about. If the dashboard is deleted later, one last report announces the deletion.',
  ),
  insight: orNull(
    Type.Integer({ 'x-reference': true }),
    'ID of the insight that reports are about. If the insight is deleted later, one last report announces the deletion. If both `insight` and `dashboard` are set, reports are about the insight.',
  ),
  target_type: oneOf(subscriptionTargetTypes, 'How reports are sent.'),
  target_value: Type.String({
    minLength: 1,
    description:
      'Where reports are sent. For `email`: email addresses, separated by commas. ' +
      "For `slack`: either `<channel id>|#<name>`, which uses the project's " +
      '`slack_incoming_webhook`, or the URL of an incoming webhook. For `webhook`: an http or https URL. ' +
      'URLs are shown only to administrators and owners, and only if their API key can change the subscription. ' +
      'Other callers see ' +
      '`https://example.com/********`. If you send this mask back, the URL does not change.',
  }),
  frequency: oneOf(frequencies, 'Unit of `interval`.'),
  interval: Type.Integer({
    minimum: 1,
    maximum: largest,
    description:
      'Number of `frequency` units from one report to the next. For example, 2 with `weekly` means every two weeks.',
  }),
  byweekday: orNull(Type.Array(oneOf(weekdays, 'A weekday.')), 'Sends reports only on these weekdays.'),
  bysetpos: orNull(
    Type.Integer({ minimum: -largest - 1, maximum: largest }),
    'With `byweekday`: sends reports only on the n-th matching day of each period, counted from the end if negative. ' +
      'From 1 to 366 or from -366 to -1.',
  ),
  count: orNull(Type.Integer({ minimum: 1, maximum: largest }), 'Total number of reports, counted from `start_date`.'),
  start_date: Type.String({
    format: 'date-time',
    description:
      'Start of the schedule. Its time of day, in the project time zone, is the time at which reports are sent.',
  }),
  until_date: orNull(time, 'Time after which no more reports are sent.'),
  deleted: Type.Boolean({
    description: 'Whether the subscription is deleted. A deleted subscription sends no reports.',
  }),
  title: orNull(Type.String({ maxLength: 100 }), 'Title of the reports.'),
  enabled: Type.Boolean({ description: 'Whether reports are sent on schedule. Defaults to true.' }),
  dashboard_export_insights: Type.Array(Type.Integer(), { description: chosenInsights }),
  invite_message: orNull(
    Type.String({ maxLength: 10_000 }),
    'Message for recipients who receive a report for the first time.',
  ),
};

/** A subscription, with the fields in the order of PostHog's API (docs/api/README.md#routes-and-fields). */
export const subscription = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the subscription.' }),
    dashboard: orNull(Type.Integer(), 'ID of the dashboard that reports are about.'),
    insight: orNull(Type.Integer(), 'ID of the insight that reports are about.'),
    target_type: fields.target_type,
    target_value: fields.target_value,
    frequency: fields.frequency,
    interval: fields.interval,
    byweekday: fields.byweekday,
    bysetpos: fields.bysetpos,
    count: fields.count,
    start_date: fields.start_date,
    until_date: fields.until_date,
    created_at: Type.String({ format: 'date-time', description: 'When the subscription was created.' }),
    created_by: orNull(embeddedUser, 'User who created the subscription. Null if the user was deleted.'),
    deleted: fields.deleted,
    title: fields.title,
    enabled: fields.enabled,
    dashboard_export_insights: fields.dashboard_export_insights,
    summary: Type.String({ description: 'The schedule in words.' }),
    next_delivery_date: orNull(time, 'When the next report is due. Null if no more reports are due.'),
    invite_message: Type.Null({ description: 'Always null, because the message is not stored.' }),
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
      Type.Array(Type.Integer(), { maxItems: maxInsights }),
      `${chosenInsights} Null has the same effect as an empty list. At most ${maxInsights} IDs.`,
    ),
  ),
  send_test_now: Type.Optional(
    orNull(
      Type.Boolean(),
      'If true, sends a report to all targets immediately. If false, sends no report immediately. By default, ' +
        'creating an enabled subscription sends a report to all targets, and changing the target sends a report ' +
        'only to the added targets.',
    ),
  ),
  invite_message: Type.Optional(rest.invite_message),
};
const subject = { dashboard: Type.Optional(rest.dashboard), insight: Type.Optional(rest.insight) };

/**
 * Request body of POST and PUT. The fields are in the order of the response. An error names the first invalid field in
 * this order.
 */
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
  invite_message: 'Here are the numbers you asked for.',
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

/** A report that was or will be sent, and the outcome of its delivery. */
export const delivery = Type.Object(
  {
    id: Type.String({
      format: 'uuid',
      description: 'ID of the report. Webhooks receive it as `delivery_id`, which is the same for every attempt.',
    }),
    occasion: Type.String({
      description:
        'Why the report was sent: `scheduled`, `created` (the subscription is new), `target_changed` (the target ' +
        'is new), ' +
        '`test` (`send_test_now`) or `ended` (the insight or dashboard was deleted, so this is the last report).',
    }),
    due_at: Type.String({ format: 'date-time', description: 'When the report was due.' }),
    target: Type.String({
      description:
        'Destination of the report: a single address for email, and the complete `target_value` for other types.',
    }),
    status: Type.String({
      description: '`pending`, `delivered`, `failed` (no more attempts will be made) or `cancelled`.',
    }),
    attempts: Type.Integer({ description: 'Number of attempts.' }),
    error: Type.Union([Type.String(), Type.Null()], {
      description: 'Why the last attempt failed. Null if the last attempt did not fail.',
    }),
    created_at: Type.String({ format: 'date-time', description: 'When the report was created.' }),
    finished_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When the report was delivered, failed or was cancelled. Null while it is pending.',
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
  error: 'The mail server rejected the email (550).',
  created_at: '2026-11-02T09:00:01Z',
  finished_at: '2026-11-02T09:00:02Z',
};

const figure = Type.Object(
  {
    label: Type.String({ description: 'Name of the series.' }),
    value: Type.Number({ description: 'Value for the date range.' }),
    unit: oneOf(['number', 'percent'], 'Unit of the value.'),
    of: oneOf(['total', 'average'], 'How the values of several intervals were combined.'),
    before: orNull(Type.Number(), 'Value for the previous period. Null without a previous period.'),
    change: orNull(
      Type.Number(),
      'Change from the previous period in percent, or in percentage points if the unit is `percent`. Null if there ' +
        'is ' +
        'no previous value.',
    ),
  },
  { title: 'ReportFigure' },
);

const reportedInsight = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the insight.' }),
    short_id: Type.String({ description: 'Short ID of the insight.' }),
    name: Type.String({ description: 'Name of the insight when the report was created.' }),
    description: Type.String({ description: 'Description of the insight when the report was created.' }),
    query_kind: Type.String({ description: "Kind of the insight's query. Empty if the insight has no query." }),
    date_from: orNull(time, 'Start of the date range.'),
    date_to: orNull(time, 'End of the date range, inclusive.'),
    figures: Type.Array(figure, { description: 'Key figures. At most 10.' }),
    table: Type.Object({
      columns: Type.Array(Type.String()),
      rows: Type.Array(Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]))),
    }),
    left_out: Type.Object(
      { rows: Type.Integer(), figures: Type.Integer() },
      { description: 'Number of rows and figures that were left out.' },
    ),
    error: orNull(Type.String(), 'Why the insight could not be computed. Null if the insight was computed.'),
  },
  { title: 'ReportInsight' },
);

export const shownReport = Type.Object(
  {
    subject: Type.String({ description: 'Subject of the email.' }),
    text: Type.String({ description: 'The complete report as plain text.' }),
    total_insights: Type.Integer({
      description: 'Number of insights on the dashboard. The report contains at most six.',
    }),
    insights: Type.Array(reportedInsight, { description: 'Insights in the report, in the order of the dashboard.' }),
  },
  { title: 'Report' },
);

export const sentReport = Type.Object(
  {
    ...delivery.properties,
    report: orNull(shownReport, 'The report as it was sent. Null if the report has no results.'),
  },
  { title: 'SentReport' },
);

export const reportExample = {
  subject: 'Weekly sign-ups',
  text: 'Weekly sign-ups\n\n16 November 2026 to 22 November 2026\nsigned up: 120 (+20% vs. 100 in the previous period)',
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
