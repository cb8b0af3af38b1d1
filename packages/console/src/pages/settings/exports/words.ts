import { counted, formatNumber } from '../../../words.ts';
import type { DestinationType } from './destinations.ts';
import type { ExportState, Run } from './export.ts';
import type { Interval, Rhythm } from './rhythm.ts';

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
/** From 0 for Sunday. 1 January 2023 was a Sunday. */
const weekday = (day: number) => weekdayNames.format(Date.UTC(2023, 0, 1 + day));
const hour = (hour: number) => `${String(hour).padStart(2, '0')}:00`;
const models = { events: 'Events', persons: 'Persons' };

export const text = {
  what: 'Exports',
  one: 'This export',
  about:
    'Events or persons, copied to your own storage or database at regular times. Each run covers one interval, whole or not at all.',
  newExport: 'New export',
  all: 'All exports',
  mayNot: 'Your level in this project does not allow to change exports.',
  columns: { name: 'Export', where: 'To', every: 'Runs', state: 'State', last: 'Last run' },
  models,
  every,
  emptyTitle: 'No export yet',
  empty: 'An export copies what is stored here to a place of yours, and goes on doing so. Choose where to:',
  needs: {
    S3: 'A bucket, its region, and an access key that may write there. Each interval becomes one file of JSON lines. MinIO, R2 and other storages that speak S3 work too.',
    Postgres:
      'Host, database, user and password. The table is made if it is not there; rows that come again replace the earlier ones.',
  } satisfies Record<DestinationType, string>,
  types: { S3: 'S3', Postgres: 'PostgreSQL' } satisfies Record<DestinationType, string>,
  states: {
    working: 'working',
    new: 'waits for its first run',
    running: 'running',
    retrying: 'trying again',
    failed: 'failed',
    paused: 'paused',
    ended: 'ended',
  } satisfies Record<ExportState, string>,
  noRun: 'none yet',
  rows: (count: number) => counted(count, 'row'),
  sentence: (model: keyof typeof models, type: string, where: string, interval: Interval) =>
    `${models[model]} to ${type}: ${where}, ${every[interval]}.`,
  table: (table: string, database: string, host: string) => `table ${table} of ${database} on ${host}`,
  weekday,
  hour,
  begins: 'Intervals begin',
  beginning: ({ interval, timezone, offset_day: day, offset_hour: at }: Rhythm) =>
    `${interval === 'week' ? `${weekday(day ?? 1)}, ` : ''}${hour(at ?? 0)} ${timezone}`,
  onlyEvents: 'Only events that match all of these filters:',
  pause: 'Pause',
  unpause: 'Go on',
  change: 'Change',
  delete: 'Delete',
  settings: 'All settings',
  made: 'Made',
  from: 'From',
  until: 'Until',
  zone: (zone: string) => `Times of ${zone}`,
  deleteTitle: (name: string) => `Delete the export “${name}”?`,
  deleteText:
    'No more runs; those in progress and its backfills end. What was exported stays where it is. This cannot be undone.',
  pausedSince: (when: string) => `Paused ${when}. Nothing is exported until it goes on.`,
  unpauseTitle: (name: string) => `Go on with “${name}”?`,
  unpauseText: 'The next run covers the interval that is running now.',
  missed: (since: string) => `Also export what was missed since ${since}`,

  runs: 'Runs',
  runsText:
    'A scheduled run takes what was stored in its interval, so late events are not missed. What failed can be tried again here.',
  runStates: {
    Starting: 'waiting',
    Running: 'running',
    Completed: 'done',
    Failed: 'failed',
    FailedRetryable: 'trying again',
    Cancelled: 'cancelled',
  } satisfies Record<Run['status'], string>,
  runColumns: { state: 'State', span: 'Covers', rows: 'Rows', bytes: 'Size', when: 'Triggered', actions: 'Actions' },
  none: '–',
  ofBackfill: 'backfill',
  took: (seconds: number) =>
    seconds < 90 ? `took ${counted(seconds, 'second')}` : `took ${counted(Math.round(seconds / 60), 'minute')}`,
  bytes: (bytes: number) => {
    const step = bytes < 1000 ? 0 : bytes < 1e6 ? 1 : bytes < 1e9 ? 2 : 3;
    const value = bytes / 1000 ** step;
    return `${step === 0 || value >= 100 ? formatNumber(Math.round(value)) : value.toFixed(1)} ${['B', 'kB', 'MB', 'GB'][step]}`;
  },
  noRunsTitle: 'No run in this time',
  noRuns: 'The first run comes when the interval that is running now has ended. Or try it now, over the last one.',
  noRunsNarrow: 'Choose a longer time above, or try it now.',
  retry: 'Try again',
  runAgain: 'Run again',
  ofSpan: (verb: string, span: string) => `${verb}: ${span}`,
  retried: 'It is exported again as a backfill; its run appears here in a moment.',
  cancelRun: 'Cancel',
  cancelTitle: 'Cancel this run?',
  cancelText: (span: string) => `What belongs to ${span} is not exported. You can try it again later.`,
  cancelVerb: 'Cancel the run',
  theySaid: 'What came back',
  emptyRun: 'nothing to export',
  emptyObject: 'Nothing was stored in this interval, so no file was written and the bucket was not asked.',
  /** What to do, by the code that the destination answered with. */
  reasons: {
    '28P01': 'The database does not accept this user or password. Enter both again under Change.',
    '28000': 'The database does not let this user connect from here. Allow it in pg_hba.conf, or use another user.',
    '3D000': 'There is no such database. Check its name under Change.',
    '3F000': 'There is no such schema. Make it, or choose another under Change.',
    '42501': 'The user lacks a right: it must be able to create the table, and to insert and delete in it.',
    '42703': 'The table lacks a column. Choose another table name, and it is made as needed.',
    '42804': 'A column of the table has another type. Choose another table name, and it is made as needed.',
    '53100': 'The disk of the database is full. Make room, then try again.',
    ENOTFOUND: 'The host’s name cannot be found. Check how it is spelled under Change.',
    ECONNREFUSED: 'Nothing listens at this host and port. Check both, and that the server runs.',
    ETIMEDOUT: 'The host does not answer. Usually a firewall keeps this installation out.',
    'no answer in time': 'The storage did not answer in time. It is tried again by itself.',
    ECONNRESET: 'The connection was lost on the way. It is tried again by itself.',
    EPRIVATEADDRESS:
      'The address lies in a private network, which this installation does not allow. Its operator can (ALLOW_PRIVATE_DESTINATIONS).',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is self-signed. Accept it under Change, or give the server another.',
    NoSuchBucket: 'There is no such bucket. Check its name and region under Change.',
    InvalidAccessKeyId: 'The storage does not know this access key. Enter both parts again under Change.',
    SignatureDoesNotMatch: 'The secret key does not belong to this access key. Enter both parts again under Change.',
    AccessDenied: 'The key may not write to this bucket. Allow it s3:PutObject, and s3:AbortMultipartUpload.',
    PermanentRedirect: 'The bucket lies in another region. Check the region under Change.',
    AuthorizationHeaderMalformed: 'The bucket lies in another region. Check the region under Change.',
  } as Record<string, string>,
  otherReasons: [
    [/^The secrets of the destination/, 'The stored keys can no longer be read. Enter them again under Change.'],
    [
      /^Every attempt was interrupted/,
      'The worker stopped each time while this was under way. Ask its operator, then try again.',
    ],
    [
      /^The export failed for a reason of this installation/,
      'This is a fault of this installation, not of the destination. Its operator finds the reason in the worker’s log.',
    ],
  ] as const,
  unknownReason: 'The destination refused. What it answered stands below.',

  backfills: 'Backfills',
  noBackfills: 'What lies before the export was made, or was missed, can be exported afterwards.',
  past: 'Export the past',
  tryNow: 'Try it now',
  tryTitle: 'Try it now',
  tryText: (interval: Interval) =>
    `One real run over the last ${unit[interval]} that has ended: it writes what it finds there and says how much. A better proof than a mere connection.`,
  pastTitle: 'Export the past',
  pastText: {
    S3: 'Events are taken by their own time. A file of the same interval is replaced.',
    Postgres: 'Events are taken by their own time. Rows that are there already are replaced: nothing is doubled.',
  } satisfies Record<DestinationType, string>,
  personsHint: 'Each run exports all persons as they are now: one run is enough.',
  lastInterval: (interval: Interval) => `The last ${unit[interval]}`,
  yesterday: 'Yesterday',
  lastWeek: 'The last 7 days',
  to: 'To',
  preview: (runs: number, interval: Interval) =>
    runs === 1 ? '1 run' : `${counted(runs, 'run')}, one for each ${unit[interval]}`,
  covers: (span: string) => `It covers ${span}.`,
  firstAndLast: (first: string, last: string) => `The first covers ${first}, the last ${last}.`,
  counting: 'Counting the runs',
  start: (runs: number) => `Start ${counted(runs, 'run')}`,
  started: (runs: number) => `${counted(runs, 'run')} will be made; they appear here in a moment.`,
  backfillStates: { Running: 'running', Completed: 'done', Failed: 'some runs failed', Cancelled: 'cancelled' },
  backfillColumns: { span: 'Covers', state: 'State', progress: 'Runs', when: 'Asked for', actions: 'Actions' },
  progress: (finished: number, total: number) => `${formatNumber(finished)} of ${formatNumber(total)}`,
  cancelBackfill: 'Cancel',
  cancelBackfillOf: (span: string) => `Cancel the backfill of ${span}`,
  cancelBackfillTitle: 'Cancel this backfill?',
  cancelBackfillText: 'Its runs that have not ended are cancelled too. What was exported stays.',
  cancelBackfillVerb: 'Cancel the backfill',

  form: {
    change: (name: string) => `Change “${name}”`,
    name: 'Name',
    nameHint: 'What it is for, like “Warehouse of the shop”.',
    destination: 'Where to',
    model: 'What',
    models: {
      events: { name: 'Events', about: 'What was stored in each interval.' },
      persons: { name: 'Persons', about: 'Every person with their ids, as they are when it runs.' },
    },
    interval: 'How often',
    intervalHint: 'Each run covers one interval.',
    offsetDay: 'Week starts on',
    offsetHour: 'Starts at',
    timezone: 'Time zone',
    timezoneHint: 'Days and weeks begin in this time zone.',
    filters: 'Filters',
    filtersHint:
      'Only events that match all filters are exported. Person properties are those stored with the event. Without filters, every event is exported.',
    fromHint: 'No run before. Empty: from now on.',
    untilHint: 'No run after. Empty: until it is paused.',
    rare: 'More settings',
    keptHint: 'Left empty it stays as it is. For another server it has to be entered again.',
    secretHint: 'Kept encrypted, never shown again.',
    noChoice: 'none',
    save: 'Save',
    create: 'Create export',
    labels: {
      bucket_name: 'Bucket',
      region: 'Region',
      prefix: 'Folder',
      aws_access_key_id: 'Access key id',
      aws_secret_access_key: 'Secret access key',
      compression: 'Compression',
      encryption: 'Encryption at rest',
      kms_key_id: 'KMS key id',
      endpoint_url: 'Address of the storage',
      host: 'Host',
      port: 'Port',
      user: 'User',
      password: 'Password',
      database: 'Database',
      schema: 'Schema',
      table_name: 'Table',
      has_self_signed_cert: 'Accept a self-signed certificate',
      include_events: 'Only these events',
      exclude_events: 'Not these events',
    } as Record<string, string>,
    hints: {
      region: 'Like eu-central-1.',
      prefix: 'What file names begin with. May hold {year}, {month}, {day}, {hour} and {table}.',
      endpoint_url: 'For storages that are not Amazon’s, like https://minio.example.com.',
      kms_key_id: 'With aws:kms.',
      port: 'Empty: 5432.',
      schema: 'Empty: public.',
      table_name: 'Empty: events or persons. It is made if it is not there.',
      has_self_signed_cert: 'The connection is encrypted, but anybody could pose as the server.',
      include_events: 'One name a line. Empty: all.',
      exclude_events: 'One name a line.',
    } as Record<string, string>,
  },
};

/** What to do about an error, in words. */
export function reasonOf(error: string, code: string): string {
  const known = text.reasons[code];
  if (known !== undefined) return known;
  return text.otherReasons.find(([pattern]) => pattern.test(error))?.[1] ?? text.unknownReason;
}
