// Whether what is sent to a project is stored, and how soon.

import type { Sql } from '@millrace/db';
import { isAppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { belowEnvironment } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import type { Live } from '../../live/live.ts';
import { kindOf } from '../../live/warning-kinds.ts';

/** As the alarm MillraceLagSeconds has it (docs/operations/alerts.md). */
const alarmSeconds = 300;
const windowSeconds = 60;

export function healthOfProjectRoutes({ sql, live }: { sql: Sql; live: Live }) {
  return defineRoutes({
    method: 'GET',
    below: belowEnvironment(sql),
    path: '/health',
    operationId: 'health_retrieve',
    summary: 'See whether events arrive',
    description:
      'How soon an event can be seen, and what became of the project’s events of the last minute. Where the log does not answer, the delay is null and `sources` says why.',
    tags: ['events'],
    scope: 'event:read',
    responses: { 200: { description: 'How it stands.', schema: projectHealth() } },
    examples: {
      response: {
        checked_at: '2026-01-02T03:04:05.000Z',
        alarm: null,
        visible_after_seconds: 0.2,
        per_minute: { stored: 744, dropped: [{ reason: 'message_size_too_large', count: 1 }] },
        sources: { log: 'ok' },
      },
    },
    handler: async ({ target: { environmentId } }) => {
      const [lag, stored, warnings] = await Promise.all([
        lagOf(live),
        countStored(sql, environmentId, windowSeconds),
        countWarnings(sql, environmentId, windowSeconds),
      ]);
      return {
        checked_at: new Date().toISOString(),
        alarm: alarmOf(lag.seconds),
        visible_after_seconds: lag.seconds,
        per_minute: {
          stored,
          dropped: warnings
            .filter((one) => kindOf(one).outcome === 'dropped')
            .map(({ type, count }) => ({ reason: type, count })),
        },
        sources: { log: lag.state },
      };
    },
  });
}

/** A log that is away hides the lag alone. */
async function lagOf(live: Live): Promise<{ seconds: number | null; state: string }> {
  try {
    return { seconds: await live.lagSeconds(), state: 'ok' };
  } catch (error) {
    if (!isAppError(error, 'unavailable')) throw error;
    return { seconds: null, state: error.message };
  }
}

function alarmOf(lag: number | null) {
  if (lag === null || lag <= alarmSeconds) return null;
  const minutes = Math.round(lag / 60);
  const detail = `Events are seen ${minutes} minutes after they were sent. Nothing is lost: they wait in the log.`;
  return { lag_seconds: lag, threshold_seconds: alarmSeconds, detail };
}

/** Rows looked at: a count of more says so many. */
const mostRows = 200_000;

/** Events that happened and were stored within the last seconds. Those of an import say nothing about the last minute. */
async function countStored(sql: Sql, environmentId: number, seconds: number): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `SELECT count(*)::int AS count
       FROM (SELECT created_at, historical_migration FROM event
              WHERE project_id = $1 AND timestamp > now() - ($2 + 60) * interval '1 second' LIMIT ${mostRows}) AS late
      WHERE created_at > now() - $2 * interval '1 second' AND NOT historical_migration`,
    [environmentId, seconds],
  );
  return rows[0]?.count ?? 0;
}

/** What was wrong with an environment's events, by kind, the most frequent in front. */
async function countWarnings(
  sql: Sql,
  environmentId: number,
  seconds: number,
): Promise<{ type: string; severity: string; count: number }[]> {
  return sql.query<{ type: string; severity: string; count: number }>(
    `SELECT type, severity, sum(count)::int AS count FROM ingestion_warning
      WHERE project_id = $1 AND stored_at > now() - $2 * interval '1 second'
      GROUP BY type, severity ORDER BY count DESC, type`,
    [environmentId, seconds],
  );
}

function projectHealth() {
  const reason = Type.Object({
    reason: Type.String({ description: 'Type of the warning (docs/ingestion-rules.md#warnings).' }),
    count: Type.Integer(),
  });
  const alarm = Type.Object({
    lag_seconds: Type.Number(),
    threshold_seconds: Type.Integer(),
    detail: Type.String({ description: 'What it means, for people.' }),
  });
  return Type.Object(
    {
      checked_at: Type.String({ format: 'date-time', description: 'When this was measured.' }),
      alarm: Type.Union([alarm, Type.Null()], { description: 'Set while events are later than the threshold.' }),
      visible_after_seconds: Type.Union([Type.Number(), Type.Null()], {
        description: 'How far what is stored is behind what was accepted, in seconds, at most; of all projects.',
      }),
      per_minute: Type.Object(
        {
          stored: Type.Integer({
            description: 'Events that were stored in the last minute. Late ones and imports are left out.',
          }),
          dropped: Type.Array(reason, { description: 'Events that were dropped in the last minute, by reason.' }),
        },
        { description: 'What became of the project’s events of the last minute.' },
      ),
      sources: Type.Object(
        {
          log: Type.String({ description: '`ok`, or why the lag is not known.' }),
        },
        { description: 'Whether what is measured could be asked.' },
      ),
    },
    { title: 'ProjectHealth' },
  );
}
