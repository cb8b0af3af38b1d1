// Request and response schemas for batch exports, runs and backfills.

import { exportDestinations, exportModels } from '@millrace/contracts';
import { formatDateTime, freeFormObject, orNull } from '@millrace/http';
import { exportIntervals } from '@millrace/schedule';
import { Type } from 'typebox';
import type { BackfillRow } from './backfills.ts';
import type { BatchExportRow, RunRow } from './store.ts';

export const exportId = Type.String({ format: 'uuid', description: 'ID of the batch export.' });

const time = Type.String({ format: 'date-time' });

/** A run, which exports a single interval (docs/api/batch-exports.md#runs-and-backfills). */
export const run = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'ID of the run.' }),
    batch_export: Type.String({ format: 'uuid', description: 'ID of the batch export.' }),
    backfill: Type.Union([Type.String(), Type.Null()], {
      description: 'ID of the backfill that the run belongs to; null if it is not part of a backfill.',
    }),
    status: Type.String({
      description:
        '`Starting`, `Running`, `Completed`, `Failed` (all attempts failed), `FailedRetryable` (failed, and will be ' +
        'retried) or `Cancelled`.',
    }),
    records_completed: Type.Union([Type.Integer(), Type.Null()], { description: 'Number of records exported.' }),
    records_total_count: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Number of records in the interval; null until the run is completed.',
    }),
    bytes_exported: Type.Union([Type.Integer(), Type.Null()], {
      description:
        'Number of bytes exported: the size of the stored object or of the row values. Null until the run is completed.',
    }),
    latest_error: Type.Union([Type.String(), Type.Null()], {
      description: 'Reason why the most recent attempt failed.',
    }),
    data_interval_start: Type.String({
      format: 'date-time',
      description: 'Start of the interval that the run exports.',
    }),
    data_interval_end: Type.String({
      format: 'date-time',
      description: 'End of the interval that the run exports (exclusive).',
    }),
    cursor: Type.Null({ description: 'Always null.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the run was triggered.' }),
    finished_at: Type.Union([time, Type.Null()], { description: 'When the run ended.' }),
    last_updated_at: Type.String({ format: 'date-time', description: 'When the run last changed.' }),
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

/** A backfill, which exports a past time range with one run per interval. */
export const backfill = Type.Object(
  {
    id: Type.String({ description: 'ID of the backfill.' }),
    batch_export: Type.String({ format: 'uuid', description: 'ID of the batch export.' }),
    team: Type.Integer({ description: 'ID of the environment.' }),
    start_at: Type.String({ format: 'date-time', description: 'Start of the range.' }),
    end_at: Type.String({ format: 'date-time', description: 'End of the range (exclusive).' }),
    status: Type.String({
      description: '`Running`, `Completed`, `Failed` (some runs failed in all attempts) or `Cancelled`.',
    }),
    progress: Type.Object(
      {
        total_runs: Type.Integer({ description: 'Number of runs triggered so far.' }),
        finished_runs: Type.Integer({ description: 'Number of runs that have ended.' }),
      },
      { description: 'Progress of the backfill.' },
    ),
    created_at: Type.String({ format: 'date-time', description: 'When the backfill was requested.' }),
    finished_at: Type.Union([time, Type.Null()], { description: 'When the backfill ended.' }),
    last_updated_at: Type.String({ format: 'date-time', description: 'When the backfill last changed.' }),
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
const typeDescription = `Destination type: ${destinationTypes.join(', ')}. Other types are not supported.`;
const configDescription =
  'Destination settings. S3: `bucket_name`, `region`, `prefix`, `aws_access_key_id`, ' +
  '`aws_secret_access_key`, and optionally `endpoint_url`, `compression` (gzip), `encryption`, `kms_key_id`, ' +
  '`file_format` (JSONLines). Postgres: `host`, `database`, `user`, `password`, and optionally `port`, `schema`, ' +
  '`table_name`, `has_self_signed_cert`. Either type: `include_events`, `exclude_events`. Keys and passwords are never ' +
  'returned.';

const destination = Type.Object(
  {
    type: Type.String({ description: typeDescription }),
    config: freeFormObject({ description: configDescription }),
  },
  { description: 'Destination of the exported data. Secrets are left out.' },
);

const filtersDescription =
  'Filters that an event must match to be exported, in the same format as in queries: event properties ' +
  '(`event`), person properties as stored with the event (`person`), and the event name (`event_metadata` ' +
  'with the key `event`). Null exports all events.';
const timezoneDescription = 'IANA time zone in which days and weeks begin, for example `Europe/Berlin`.';
const offsetDayDescription = 'Day on which weeks begin, from 0 (Sunday) to 6 (Saturday). Null means Monday.';
const offsetHourDescription = 'Hour at which days and weeks begin, from 0 to 23. Null means midnight.';

/** A batch export (docs/api/batch-exports.md). */
export const batchExport = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'ID of the batch export.' }),
    team_id: Type.Integer({ description: 'ID of the environment whose data is exported.' }),
    name: Type.String({ description: 'Name of the batch export.' }),
    model: Type.String({ description: 'Data to export: `events` or `persons`.' }),
    destination,
    filters: orNull(Type.Array(freeFormObject()), filtersDescription),
    interval: Type.String({ description: 'How often the export runs, and how much time each run covers.' }),
    timezone: Type.String({ description: timezoneDescription }),
    offset_day: orNull(Type.Integer(), offsetDayDescription),
    offset_hour: orNull(Type.Integer(), offsetHourDescription),
    paused: Type.Boolean({ description: 'Whether the export is paused.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the export was created.' }),
    last_updated_at: Type.String({ format: 'date-time', description: 'When the export was last changed.' }),
    last_paused_at: orNull(time, 'When the export was last paused.'),
    start_at: orNull(time, 'Time before which no run is triggered.'),
    end_at: orNull(time, 'Time after which no run is triggered.'),
    latest_runs: Type.Array(run, { description: 'The last ten runs, newest first.' }),
    schema: orNull(
      Type.Object({
        fields: Type.Array(
          Type.Object({
            expression: Type.String({ description: 'The expression, in the form of function calls.' }),
            alias: Type.String({ description: 'Name of the column.' }),
          }),
          { description: 'Exported columns.' },
        ),
        values: freeFormObject({ description: 'Always empty: constants are part of the expressions.' }),
        hogql_query: Type.String({ description: 'The query, in the form of function calls.' }),
      }),
      'Columns selected by `hogql_query`. Null: all fields of the events or persons are exported.',
    ),
  },
  { title: 'BatchExport' },
);

const model = orNull(
  Type.Unsafe<'events' | 'persons' | ''>({ type: 'string', enum: [...exportModels, ''] }),
  'Data to export. Defaults to `events`.',
);
const interval = Type.Unsafe<(typeof exportIntervals)[number]>({
  type: 'string',
  enum: [...exportIntervals],
  description:
    'How often the export runs. Days and weeks begin at midnight in `timezone`, and weeks begin on Monday, unless ' +
    '`offset_hour` and `offset_day` are set.',
});
const name = Type.String({ minLength: 1, maxLength: 400, description: 'Name of the batch export.' });
const config = Type.Optional(freeFormObject({ description: configDescription }));
const newDestination = Type.Object(
  { type: Type.String({ description: typeDescription }), config },
  { description: 'Destination of the exported data.' },
);
const destinationChanges = Type.Object(
  { type: Type.Optional(Type.String({ description: typeDescription })), config },
  {
    description:
      'Settings and secrets that are not sent stay unchanged. If you change `type`, all previous settings are discarded.',
  },
);
const optional = {
  model: Type.Optional(model),
  filters: Type.Optional(
    orNull(Type.Array(freeFormObject()), `${filtersDescription} Person exports cannot have filters.`),
  ),
  timezone: Type.Optional(
    orNull(Type.String(), `${timezoneDescription} Null uses the current time zone of the project.`),
  ),
  offset_day: Type.Optional(
    orNull(
      Type.Integer({ minimum: 0, maximum: 6 }),
      `${offsetDayDescription} Only allowed with the interval \`week\`.`,
    ),
  ),
  offset_hour: Type.Optional(
    orNull(
      Type.Integer({ minimum: 0, maximum: 23 }),
      `${offsetHourDescription} Only allowed with the intervals \`day\` and \`week\`.`,
    ),
  ),
  paused: Type.Optional(Type.Boolean({ description: 'Whether the export is paused.' })),
  start_at: Type.Optional(orNull(time, 'Time before which no run is triggered.')),
  end_at: Type.Optional(orNull(time, 'Time after which no run is triggered.')),
  hogql_query: Type.Optional(
    orNull(
      Type.String({ maxLength: 65_536 }),
      'HogQL query that selects the exported columns: a single SELECT from `events`, with a name for each column, and ' +
        'optionally WHERE. Null or an empty string exports all fields. The response shows the query in `schema`.',
    ),
  ),
};

/** The fields are in the order of the response. An error names the first invalid field in this order. */
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

/** PUT requires the same fields as POST, except the destination's settings. */
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

const ignored = (description: string) =>
  Type.Optional(Type.Unknown({ description: `${description} Ignored by this route.` }));
const ignoredFields = {
  name: ignored('Name of the batch export.'),
  model: ignored('Data that is exported.'),
  destination: ignored('Destination of the exported data.'),
  filters: ignored('Event filters.'),
  interval: ignored('How often the export runs.'),
  timezone: ignored('Time zone in which days and weeks begin.'),
  offset_day: ignored('Day on which weeks begin.'),
  offset_hour: ignored('Hour at which days and weeks begin.'),
  paused: ignored('Whether the export is paused.'),
  last_paused_at: ignored('When the export was last paused.'),
  start_at: ignored('Time before which no run is triggered.'),
  end_at: ignored('Time after which no run is triggered.'),
  hogql_query: ignored('Query that selects the exported fields.'),
};
/** Generated clients send the complete export (docs/api/README.md#routes-and-fields). All fields are ignored. */
export const pauseRequest = Type.Object(ignoredFields, { title: 'BatchExportPause' });
export const unpauseRequest = Type.Object(
  {
    ...ignoredFields,
    backfill: Type.Optional(
      Type.Boolean({
        description:
          'Whether to also export the intervals that were missed, starting with the one in which the export was paused.',
      }),
    ),
  },
  { title: 'BatchExportUnpause' },
);
export const pausedState = Type.Object(
  { paused: Type.Boolean({ description: 'Whether the export is now paused.' }) },
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
      password: 'example-password',
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

/** Converts an export to an API response. Ignores the `runs` of other exports. */
export function toBatchExport({ query, ...row }: BatchExportRow, runs: RunRow[]) {
  return {
    ...row,
    destination: { type: row.destination_type, config: row.destination_config },
    created_at: formatDateTime(row.created_at),
    last_updated_at: formatDateTime(row.last_updated_at),
    last_paused_at: timeOrNull(row.last_paused_at),
    start_at: timeOrNull(row.start_at),
    end_at: timeOrNull(row.end_at),
    latest_runs: runs.filter((run) => run.batch_export === row.id).map(toRun),
    schema: query && { fields: query.fields, values: {}, hogql_query: query.hogql_query },
  };
}

export function toRun(row: RunRow) {
  return {
    ...row,
    // A run exports all records or none, so the number of failed records is always 0.
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
