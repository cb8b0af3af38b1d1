import { formatCount, formatNumber } from '../../../words.ts';
import type { DestinationType } from './destinations.ts';
import type { ExportState, Run } from './export.ts';
import type { ExportSchedule, Interval } from './schedule.ts';

const every: Record<Interval, string> = {
  'every 5 minutes': 'every 5 minutes',
  'every 15 minutes': 'every 15 minutes',
  hour: 'every hour',
  day: 'every day',
  week: 'every week',
};
const unit: Record<Interval, string> = {
  'every 5 minutes': '5 minutes',
  'every 15 minutes': '15 minutes',
  hour: 'hour',
  day: 'day',
  week: 'week',
};
const weekdayNames = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' });
/** Formats a weekday name. Weekday 0 is Sunday, because 1 January 2023 was a Sunday. */
const weekday = (day: number) => weekdayNames.format(Date.UTC(2023, 0, 1 + day));
const hour = (hour: number) => `${String(hour).padStart(2, '0')}:00`;
const models = { events: 'Events', persons: 'Persons' };

export const text = {
  what: 'Exports',
  one: 'This export',
  about:
    'An export copies events or persons to your own storage or database at regular intervals. Each run exports one interval, either completely or not at all.',
  newExport: 'New export',
  all: 'All exports',
  mayNot: 'You have read-only access to exports.',
  columns: { name: 'Export', where: 'Destination', every: 'Interval', state: 'Status', last: 'Last run' },
  models,
  every,
  emptyTitle: 'No exports yet',
  empty: 'An export copies your stored data to your own destination and keeps adding new data. You can export to:',
  needs: {
    S3: 'You need a bucket, its region, and an access key that can write to the bucket. Each interval is written to one JSON Lines file. Other S3-compatible storage, such as MinIO and R2, works too.',
    Postgres:
      'You need a host, a database, a user and a password. The table is created if it does not exist. A row that is exported again replaces the earlier one.',
  } satisfies Record<DestinationType, string>,
  types: { S3: 'S3', Postgres: 'PostgreSQL' } satisfies Record<DestinationType, string>,
  states: {
    working: 'active',
    new: 'waiting for first run',
    running: 'running',
    retrying: 'retrying',
    failed: 'failed',
    paused: 'paused',
    ended: 'ended',
  } satisfies Record<ExportState, string>,
  noRun: 'no runs yet',
  rows: (count: number) => formatCount(count, 'row'),
  sentence: (model: keyof typeof models, type: string, where: string, interval: Interval) =>
    `${models[model]} to ${type}: ${where}, ${every[interval]}.`,
  table: (table: string, database: string, host: string) => `table ${table} in database ${database} on ${host}`,
  weekday,
  hour,
  begins: 'Intervals start',
  beginning: ({ interval, timezone, offset_day: day, offset_hour: at }: ExportSchedule) =>
    `${interval === 'week' ? `${weekday(day ?? 1)}, ` : ''}${hour(at ?? 0)} ${timezone}`,
  onlyEvents: 'Exports only events that match all of these filters:',
  pause: 'Pause',
  unpause: 'Resume',
  change: 'Edit',
  delete: 'Delete',
  settings: 'All settings',
  made: 'Created',
  from: 'From',
  until: 'Until',
  zone: (zone: string) => `Time zone: ${zone}`,
  deleteTitle: (name: string) => `Delete the export “${name}”?`,
  deleteText:
    'No more runs will start, and all runs and backfills in progress are stopped. Data that was already exported stays at the destination. This cannot be undone.',
  pausedSince: (when: string) => `Paused ${when}. Nothing is exported until you resume the export.`,
  unpauseTitle: (name: string) => `Resume “${name}”?`,
  unpauseText: 'The next run exports the current interval.',
  missed: (since: string) => `Also export the data missed since ${since}`,

  runs: 'Runs',
  runsText:
    'A scheduled run exports the data that was stored during its interval, so it also includes late events. You can retry failed runs here.',
  runStates: {
    Starting: 'waiting',
    Running: 'running',
    Completed: 'done',
    Failed: 'failed',
    FailedRetryable: 'retrying',
    Cancelled: 'cancelled',
  } satisfies Record<Run['status'], string>,
  runColumns: { state: 'Status', span: 'Interval', rows: 'Rows', bytes: 'Size', when: 'Created', actions: 'Actions' },
  none: '–',
  ofBackfill: 'backfill',
  took: (seconds: number) =>
    seconds < 90 ? `took ${formatCount(seconds, 'second')}` : `took ${formatCount(Math.round(seconds / 60), 'minute')}`,
  bytes: (bytes: number) => {
    const step = bytes < 1000 ? 0 : bytes < 1e6 ? 1 : bytes < 1e9 ? 2 : 3;
    const value = bytes / 1000 ** step;
    return `${step === 0 || value >= 100 ? formatNumber(Math.round(value)) : value.toFixed(1)} ${['B', 'kB', 'MB', 'GB'][step]}`;
  },
  noRunsTitle: 'No runs in this date range',
  noRuns: 'The first run starts when the current interval ends. To export the previous interval now, choose Test run.',
  noRunsNarrow: 'Choose a longer date range above, or choose Test run.',
  retry: 'Retry',
  runAgain: 'Run again',
  ofSpan: (verb: string, span: string) => `${verb}: ${span}`,
  retried: 'The interval will be exported again as a backfill. Its run will appear here in a moment.',
  cancelRun: 'Cancel',
  cancelTitle: 'Cancel this run?',
  cancelText: (span: string) => `Data from ${span} will not be exported. You can retry the run later.`,
  cancelVerb: 'Cancel run',
  theySaid: 'Error',
  emptyRun: 'nothing to export',
  emptyObject: 'Nothing was stored in this interval, so no file was written and the bucket was not contacted.',
  /** Advice about failed runs, by the destination's error code. */
  reasons: {
    '28P01': 'The database rejected the user or the password. Edit the export and enter both again.',
    '28000':
      'The database does not allow this user to connect from this installation. Allow the connection in pg_hba.conf, or use another user.',
    '3D000': 'The database does not exist. Edit the export and check the database name.',
    '3F000': 'The schema does not exist. Create it, or edit the export and enter another schema.',
    '42501':
      'The database user lacks permissions. The user must be able to create the table, and to insert and delete rows in the table.',
    '42703':
      'A column is missing from the table. Edit the export and enter the name of a new table. The export then creates that table.',
    '42804':
      'A table column has the wrong type. Edit the export and enter the name of a new table. The export then creates that table.',
    '53100': 'The database server’s disk is full. Free up space, then retry the run.',
    ENOTFOUND: 'The host name could not be found. Edit the export and check the spelling.',
    ECONNREFUSED:
      'The host refused the connection. Check the host and the port, and make sure that the server is running.',
    ETIMEDOUT: 'The host did not respond. A firewall is probably blocking connections from this installation.',
    'no answer in time': 'The storage did not respond in time. The run is retried automatically.',
    ECONNRESET: 'The connection was lost. The run is retried automatically.',
    EPRIVATEADDRESS:
      'The address is in a private network, which this installation does not allow. Its operator can allow it with ALLOW_PRIVATE_DESTINATIONS.',
    DEPTH_ZERO_SELF_SIGNED_CERT:
      'The server’s certificate is self-signed. Edit the export and accept self-signed certificates, or install another certificate on the server.',
    NoSuchBucket: 'The bucket does not exist. Edit the export and check the bucket’s name and region.',
    InvalidAccessKeyId:
      'The storage service does not recognize this access key. Edit the export, and enter the access key ID and the secret access key again.',
    SignatureDoesNotMatch:
      'The secret access key does not belong to this access key ID. Edit the export and enter both again.',
    AccessDenied:
      'The access key is not allowed to write to this bucket. Grant it s3:PutObject and s3:AbortMultipartUpload.',
    PermanentRedirect: 'The bucket is in another region. Edit the export and check the region.',
    AuthorizationHeaderMalformed: 'The bucket is in another region. Edit the export and check the region.',
  } as Record<string, string>,
  otherReasons: [
    [
      /^The secrets of the destination/,
      'The stored credentials can no longer be decrypted. Edit the export and enter them again.',
    ],
    [
      /^Every attempt was interrupted/,
      'The worker stopped during each attempt. Contact the operator, then retry the run.',
    ],
    [
      /^The export failed because of an error in this installation/,
      'The error was caused by this installation, not by the destination. The installation’s operator can find the cause in the worker log.',
    ],
  ] as const,
  unknownReason: 'The destination returned the error below.',

  backfills: 'Backfills',
  noBackfills: 'With a backfill, you can export data from before the export was created, or data that was missed.',
  past: 'Start backfill',
  tryNow: 'Test run',
  tryTitle: 'Test run',
  tryText: (interval: Interval) =>
    `Runs the export once for the last full ${unit[interval]} and shows how many rows were written. This writes real data, so it tests more than the connection.`,
  pastTitle: 'Start backfill',
  pastText: {
    S3: 'A backfill selects events by their own timestamp. If a file for the same interval exists, it is replaced.',
    Postgres:
      'A backfill selects events by their own timestamp. Rows that already exist are replaced, so there are no duplicates.',
  } satisfies Record<DestinationType, string>,
  personsHint: 'Each run exports all persons in their current state, so one run is enough.',
  lastInterval: (interval: Interval) => `Last ${unit[interval]}`,
  yesterday: 'Yesterday',
  lastWeek: 'Last 7 days',
  to: 'To',
  preview: (runs: number, interval: Interval) =>
    runs === 1 ? '1 run' : `${formatCount(runs, 'run')}, one for each ${unit[interval]}`,
  covers: (span: string) => `The run covers ${span}.`,
  firstAndLast: (first: string, last: string) => `The first run covers ${first}, and the last run covers ${last}.`,
  counting: 'Counting runs…',
  start: (runs: number) => `Start ${formatCount(runs, 'run')}`,
  started: (runs: number) =>
    runs === 1
      ? 'Run started. It will appear below in a moment.'
      : `${formatCount(runs, 'run')} started. They will appear below in a moment.`,
  backfillStates: { Running: 'running', Completed: 'done', Failed: 'some runs failed', Cancelled: 'cancelled' },
  backfillColumns: { span: 'Date range', state: 'Status', progress: 'Runs', when: 'Created', actions: 'Actions' },
  progress: (finished: number, total: number) => `${formatNumber(finished)} of ${formatNumber(total)}`,
  cancelBackfill: 'Cancel',
  cancelBackfillOf: (span: string) => `Cancel the backfill for ${span}`,
  cancelBackfillTitle: 'Cancel this backfill?',
  cancelBackfillText:
    'All unfinished runs of the backfill are cancelled. Data that was already exported stays at the destination.',
  cancelBackfillVerb: 'Cancel backfill',

  form: {
    change: (name: string) => `Edit “${name}”`,
    name: 'Name',
    nameHint: 'For example, “Shop data warehouse”.',
    destination: 'Destination',
    model: 'Data',
    models: {
      events: { name: 'Events', about: 'All events that were stored during the interval.' },
      persons: { name: 'Persons', about: 'All persons with their distinct IDs, as they are at the time of the run.' },
    },
    interval: 'Interval',
    intervalHint: 'Each run exports one interval.',
    offsetDay: 'Week starts on',
    offsetHour: 'Starts at',
    timezone: 'Time zone',
    timezoneHint: 'Days and weeks start and end in this time zone.',
    filters: 'Filters',
    filtersHint:
      'Only events that match all filters are exported. Person properties have the values that were stored with the event. Without filters, all events are exported.',
    fromHint: 'No runs start before this time. Leave this field empty to start now.',
    untilHint: 'No runs start after this time. Leave this field empty to continue until the export is paused.',
    rare: 'More settings',
    keptHint: 'Leave empty to keep the stored value. If you change the server, enter the value again.',
    secretHint: 'Stored encrypted and never shown again.',
    noChoice: 'None',
    save: 'Save',
    create: 'Create export',
    labels: {
      bucket_name: 'Bucket',
      region: 'Region',
      prefix: 'Key prefix',
      aws_access_key_id: 'Access key ID',
      aws_secret_access_key: 'Secret access key',
      compression: 'Compression',
      encryption: 'Encryption at rest',
      kms_key_id: 'KMS key ID',
      endpoint_url: 'Endpoint URL',
      host: 'Host',
      port: 'Port',
      user: 'User',
      password: 'Password',
      database: 'Database',
      schema: 'Schema',
      table_name: 'Table',
      has_self_signed_cert: 'Accept a self-signed certificate',
      include_events: 'Include only these events',
      exclude_events: 'Exclude these events',
    } as Record<string, string>,
    hints: {
      region: 'For example, eu-central-1.',
      prefix: 'The beginning of each file name. It can contain {year}, {month}, {day}, {hour} and {table}.',
      endpoint_url: 'Required for storage other than Amazon S3. For example, https://minio.example.com.',
      kms_key_id: 'Used only with aws:kms encryption.',
      port: 'The default is 5432.',
      schema: 'The default is public.',
      table_name: 'The default is events or persons. The table is created if it does not exist.',
      has_self_signed_cert: 'The connection is encrypted, but anyone could impersonate the server.',
      include_events: 'One event name per line. Leave empty to export all events.',
      exclude_events: 'One event name per line.',
    } as Record<string, string>,
  },
};

export function findErrorAdvice(error: string, code: string): string {
  const known = text.reasons[code];
  if (known !== undefined) return known;
  return text.otherReasons.find(([pattern]) => pattern.test(error))?.[1] ?? text.unknownReason;
}
