import { Type } from 'typebox';

const time = Type.String({ format: 'date-time' });

/** One interval of one export and what came of it (docs/api-rules.md#runs-and-backfills). */
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
    created_at: Type.String({ format: 'date-time', description: 'When it was asked for.' }),
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
