// Batch exports, runs and backfills as requests and answers have them.

import { exportDestinations, exportModels } from '@millrace/contracts';
import { formatDateTime, freeFormObject, orNull } from '@millrace/http';
import { exportIntervals } from '@millrace/schedule';
import { Type } from 'typebox';
import type { BackfillRow } from './backfills.ts';
import type { BatchExportRow, RunRow } from './store.ts';

/** In a path. */
export const exportId = Type.String({ format: 'uuid', description: 'Id of the export.' });

const time = Type.String({ format: 'date-time' });

/** One interval of one export and what came of it (docs/api/batch-exports.md#runs-and-backfills). */
export const run = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the run.' }),
    batch_export: Type.String({ format: 'uuid', description: 'Id of the export.' }),
    backfill: Type.Union([Type.String(), Type.Null()], { description: 'Id of the backfill it belongs to.' }),
    status: Type.String({
      description:
        '`Starting`, `Running`, `Completed`, `Failed` (given up), `FailedRetryable` (tried again) or `Cancelled`.',
    }),
    records_completed: Type.Union([Type.Integer(), Type.Null()], { description: 'How many records were exported.' }),
    records_total_count: Type.Union([Type.Integer(), Type.Null()], {
      description: 'How many records there were; null before it is completed.',
    }),
    bytes_exported: Type.Union([Type.Integer(), Type.Null()], {
      description:
        'How much was sent: the object as it is stored, or the values of the rows; null before it is completed.',
    }),
    latest_error: Type.Union([Type.String(), Type.Null()], { description: 'Why the last attempt failed.' }),
    data_interval_start: Type.String({ format: 'date-time', description: 'Where its interval begins.' }),
    data_interval_end: Type.String({ format: 'date-time', description: 'Where its interval ends, exclusive.' }),
    cursor: Type.Null({ description: 'Always null.' }),
    created_at: Type.String({ format: 'date-time', description: 'When it was triggered.' }),
    finished_at: Type.Union([time, Type.Null()], { description: 'When it ended.' }),
    last_updated_at: Type.String({ format: 'date-time', description: 'When it last changed.' }),
  },
  { title: 'BatchExportRun' },
);

export const runExample = {
  id: '0193f0c5-7a4e-7000-8000-0000000000f2',
  batch_export: '0193f0c5-7a4e-7000-8000-0000000000f1',
  backfill: null,
  status: 'Completed',
  records_completed: 12_345,
  records_total_count: 12_345,
  bytes_exported: 8_456_789,
  latest_error: null,
  data_interval_start: '2026-11-21T04:00:00Z',
  data_interval_end: '2026-11-21T05:00:00Z',
  cursor: null,
  created_at: '2026-11-21T05:00:30Z',
  finished_at: '2026-11-21T05:00:41Z',
  last_updated_at: '2026-11-21T05:00:41Z',
};

/** The past, exported afterwards: one run for each interval of a range. */
export const backfill = Type.Object(
  {
    id: Type.String({ description: 'Id of the backfill.' }),
    batch_export: Type.String({ format: 'uuid', description: 'Id of the export.' }),
    team: Type.Integer({ description: 'Number of the environment.' }),
    start_at: Type.String({ format: 'date-time', description: 'Where it begins.' }),
    end_at: Type.String({ format: 'date-time', description: 'Where it ends, exclusive.' }),
    status: Type.String({ description: '`Running`, `Completed`, `Failed` (some runs were given up) or `Cancelled`.' }),
    progress: Type.Object(
      {
        total_runs: Type.Integer({ description: 'Runs triggered so far.' }),
        finished_runs: Type.Integer({ description: 'Runs that have ended.' }),
      },
      { description: 'How far it is.' },
    ),
    created_at: Type.String({ format: 'date-time', description: 'When it was requested.' }),
    finished_at: Type.Union([time, Type.Null()], { description: 'When it ended.' }),
    last_updated_at: Type.String({ format: 'date-time', description: 'When it last changed.' }),
  },
  { title: 'BatchExportBackfill' },
);

export const backfillExample = {
  id: '0193f0c5-7a4e-7000-8000-0000000000f1-Backfill-2026-11-01T00:00:00Z-2026-11-02T00:00:00Z',
  batch_export: '0193f0c5-7a4e-7000-8000-0000000000f1',
  team: 1,
  start_at: '2026-11-01T00:00:00Z',
  end_at: '2026-11-02T00:00:00Z',
  status: 'Running',
  progress: { total_runs: 24, finished_runs: 7 },
  created_at: '2026-11-21T05:00:00Z',
  finished_at: null,
  last_updated_at: '2026-11-21T05:00:10Z',
};

const destinationTypes = Object.keys(exportDestinations);
const typeDescription = `Kind of destination: ${destinationTypes.join(', ')}. No other kind is supported here.`;
const configDescription =
  'Settings of the destination. S3: `bucket_name`, `region`, `prefix`, `aws_access_key_id`, `aws_secret_access_key`, and ' +
  'optionally `endpoint_url`, `compression` (gzip), `encryption`, `kms_key_id`, `file_format` (JSONLines). Postgres: ' +
  '`host`, `database`, `user`, `password`, and optionally `port`, `schema`, `table_name`, `has_self_signed_cert`. Both: ' +
  '`include_events`, `exclude_events`. Keys and passwords are never shown again.';

const destination = Type.Object(
  {
    type: Type.String({ description: typeDescription }),
    config: freeFormObject({ description: configDescription }),
  },
  { description: 'Where to export to, without its secrets.' },
);

const filtersDescription =
  'Filters that an event must match to be exported, as queries have them: by properties of the event (`event`) and of its person as ' +
  'stored with the event (`person`), and by the name of the event (`event_metadata` with the key `event`). Null: every event.';
const timezoneDescription = 'IANA name of the time zone in which days and weeks begin.';
const offsetDayDescription = 'The day on which weeks begin, from 0 for Sunday to 6 for Saturday. Null: Monday.';
const offsetHourDescription = 'The hour at which days and weeks begin, from 0 to 23. Null: midnight.';

/** A batch export (docs/api/batch-exports.md). */
export const batchExport = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the export.' }),
    team_id: Type.Integer({ description: 'Number of the environment whose data are exported.' }),
    name: Type.String({ description: 'Name for people.' }),
    model: Type.String({ description: 'What is exported: `events` or `persons`.' }),
    destination,
    filters: orNull(Type.Array(freeFormObject()), filtersDescription),
    interval: Type.String({ description: 'How often it runs, and how much each run covers.' }),
    timezone: Type.String({ description: timezoneDescription }),
    offset_day: orNull(Type.Integer(), offsetDayDescription),
    offset_hour: orNull(Type.Integer(), offsetHourDescription),
    paused: Type.Boolean({ description: 'Whether it is paused.' }),
    created_at: Type.String({ format: 'date-time', description: 'When it was made.' }),
    last_updated_at: Type.String({ format: 'date-time', description: 'When it was last changed.' }),
    last_paused_at: orNull(time, 'When it was last paused.'),
    start_at: orNull(time, 'No run is triggered before this time.'),
    end_at: orNull(time, 'No run is triggered after this time.'),
    latest_runs: Type.Array(run, { description: 'Its last ten runs, the newest first.' }),
    schema: Type.Null({ description: 'Always null: whole events or persons are exported.' }),
  },
  { title: 'BatchExport' },
);

const model = orNull(
  Type.Unsafe<'events' | 'persons' | ''>({ type: 'string', enum: [...exportModels, ''] }),
  'What is exported; `events` by default.',
);
const interval = Type.Unsafe<(typeof exportIntervals)[number]>({
  type: 'string',
  enum: [...exportIntervals],
  description:
    'How often it runs. Days and weeks begin at midnight of `timezone`, weeks on Monday, unless `offset_hour` and `offset_day` are set.',
});
const name = Type.String({ minLength: 1, maxLength: 400, description: 'Name for people.' });
const config = Type.Optional(freeFormObject({ description: configDescription }));
const newDestination = Type.Object(
  { type: Type.String({ description: typeDescription }), config },
  { description: 'Where to export to.' },
);
const destinationChanges = Type.Object(
  { type: Type.Optional(Type.String({ description: typeDescription })), config },
  { description: 'Settings that are not sent stay as they are, secrets too. Another `type` begins with none.' },
);
const optional = {
  model: Type.Optional(model),
  filters: Type.Optional(
    orNull(Type.Array(freeFormObject()), `${filtersDescription} Exports of persons have no filters.`),
  ),
  timezone: Type.Optional(orNull(Type.String(), `${timezoneDescription} Null: that of the project at this moment.`)),
  offset_day: Type.Optional(
    orNull(Type.Integer({ minimum: 0, maximum: 6 }), `${offsetDayDescription} For the interval \`week\` only.`),
  ),
  offset_hour: Type.Optional(
    orNull(
      Type.Integer({ minimum: 0, maximum: 23 }),
      `${offsetHourDescription} For the intervals \`day\` and \`week\` only.`,
    ),
  ),
  paused: Type.Optional(Type.Boolean({ description: 'Whether it is paused.' })),
  start_at: Type.Optional(orNull(time, 'No run is triggered before this time.')),
  end_at: Type.Optional(orNull(time, 'No run is triggered after this time.')),
  hogql_query: Type.Optional(
    orNull(Type.String(), 'Not supported here: anything but null or an empty text is refused with 400.'),
  ),
};

/** In the order of the answer: the first wrong field is the one reported. */
export const newBatchExport = Type.Object(
  {
    name,
    model: optional.model,
    destination: newDestination,
    filters: optional.filters,
    interval,
    timezone: optional.timezone,
    offset_day: optional.offset_day,
    offset_hour: optional.offset_hour,
    paused: optional.paused,
    start_at: optional.start_at,
    end_at: optional.end_at,
    hogql_query: optional.hogql_query,
  },
  { title: 'BatchExportToCreate' },
);

/** PUT: what a new one must have must be sent again; settings of the destination may be left out. */
export const batchExportReplacement = Type.Object(
  { ...newBatchExport.properties, destination: destinationChanges },
  { title: 'BatchExportReplacement' },
);

export const batchExportChanges = Type.Object(
  {
    name: Type.Optional(name),
    model: optional.model,
    destination: Type.Optional(destinationChanges),
    filters: optional.filters,
    interval: Type.Optional(interval),
    timezone: optional.timezone,
    offset_day: optional.offset_day,
    offset_hour: optional.offset_hour,
    paused: optional.paused,
    start_at: optional.start_at,
    end_at: optional.end_at,
    hogql_query: optional.hogql_query,
  },
  { title: 'BatchExportChanges' },
);

const ignored = (description: string) => Type.Optional(Type.Unknown({ description: `${description} Ignored here.` }));
const ignoredFields = {
  name: ignored('Name for people.'),
  model: ignored('What is exported.'),
  destination: ignored('Where to export to.'),
  filters: ignored('Filters of events.'),
  interval: ignored('How often it runs.'),
  timezone: ignored('Time zone in which days and weeks begin.'),
  offset_day: ignored('Day on which weeks begin.'),
  offset_hour: ignored('Hour at which days and weeks begin.'),
  paused: ignored('Whether it is paused.'),
  last_paused_at: ignored('When it was last paused.'),
  start_at: ignored('No run is triggered before this time.'),
  end_at: ignored('No run is triggered after this time.'),
  hogql_query: ignored('A query.'),
};
/**
 * Clients generated from the API send the whole export (docs/api/README.md#routes-and-fields); none of
 * it matters.
 */
export const pauseRequest = Type.Object(ignoredFields, { title: 'BatchExportPause' });
export const unpauseRequest = Type.Object(
  {
    ...ignoredFields,
    backfill: Type.Optional(
      Type.Boolean({
        description:
          'Whether to also export the intervals that were missed, beginning with the one in which it was paused.',
      }),
    ),
  },
  { title: 'BatchExportUnpause' },
);
export const pausedState = Type.Object(
  { paused: Type.Boolean({ description: 'Whether it is paused now.' }) },
  { title: 'BatchExportPaused' },
);

export const newBatchExportExample = {
  name: 'Warehouse',
  model: 'events',
  destination: {
    type: 'Postgres',
    config: {
      host: 'warehouse.example.com',
      database: 'analytics',
      user: 'millrace',
      password: 'not shown again',
      table_name: 'events',
    },
  },
  filters: [{ type: 'event', key: '$browser', operator: 'exact', value: ['Firefox'] }],
  interval: 'hour',
};

export const batchExportExample = {
  id: '0193f0c5-7a4e-7000-8000-0000000000f1',
  team_id: 1,
  name: 'Warehouse',
  model: 'events',
  destination: {
    type: 'Postgres',
    config: { host: 'warehouse.example.com', database: 'analytics', table_name: 'events' },
  },
  filters: [{ type: 'event', key: '$browser', operator: 'exact', value: ['Firefox'] }],
  interval: 'hour',
  timezone: 'Europe/Berlin',
  offset_day: null,
  offset_hour: null,
  paused: false,
  created_at: '2026-11-20T12:00:00Z',
  last_updated_at: '2026-11-20T12:00:00Z',
  last_paused_at: null,
  start_at: null,
  end_at: null,
  latest_runs: [runExample],
  schema: null,
};

const timeOrNull = (time: Date | null) => time && formatDateTime(time);

/** A row as the API shows it, with its own ones among some runs. */
export function toBatchExport(row: BatchExportRow, runs: RunRow[]) {
  return {
    ...row,
    destination: { type: row.destination_type, config: row.destination_config },
    created_at: formatDateTime(row.created_at),
    last_updated_at: formatDateTime(row.last_updated_at),
    last_paused_at: timeOrNull(row.last_paused_at),
    start_at: timeOrNull(row.start_at),
    end_at: timeOrNull(row.end_at),
    latest_runs: runs.filter((run) => run.batch_export === row.id).map(toRun),
    schema: null,
  };
}

export function toRun(row: RunRow) {
  return {
    ...row,
    // What was not exported within an interval does not exist: a run is all or nothing.
    records_total_count: row.status === 'Completed' ? row.records_completed : null,
    bytes_exported: row.bytes_exported === null ? null : Number(row.bytes_exported),
    data_interval_start: formatDateTime(row.data_interval_start),
    data_interval_end: formatDateTime(row.data_interval_end),
    cursor: null,
    created_at: formatDateTime(row.created_at),
    finished_at: timeOrNull(row.finished_at),
    last_updated_at: formatDateTime(row.last_updated_at),
  };
}

export function toBackfill({ total_runs, finished_runs, ...row }: BackfillRow) {
  return {
    ...row,
    start_at: formatDateTime(row.start_at),
    end_at: formatDateTime(row.end_at),
    progress: { total_runs, finished_runs },
    created_at: formatDateTime(row.created_at),
    finished_at: timeOrNull(row.finished_at),
    last_updated_at: formatDateTime(row.last_updated_at),
  };
}
