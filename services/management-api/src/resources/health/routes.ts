// Whether what is sent to a project is stored, and how soon.

import { lanes } from '@millrace/contracts';
import { isTransientError, type Sql } from '@millrace/db';
import { formatDateTime, orNull } from '@millrace/http';
import { AppError, isAppError, withDeadline } from '@millrace/runtime';
import { Type } from 'typebox';
import manifest from '../../../../../package.json' with { type: 'json' };
import { belowEnvironment } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import type { LaneLag } from '../../live/lag.ts';
import type { Live } from '../../live/live.ts';
import { kindOf } from '../../live/warning-kinds.ts';
import type { DeadLetterLog } from '../dead-letters/letters.ts';
import { createWaitingCount } from '../dead-letters/waiting.ts';
import { countConnections, countStored, countWarnings } from './store.ts';

/** As the alarm MillraceLagSeconds has it (docs/operations/alerts.md). */
const alarmSeconds = 300;
const windowSeconds = 60;
/** Every page of the console asks: what takes longer is known at the next asking. */
const patienceMs = 3000;

interface HealthDeps {
  sql: Sql;
  live: Live;
  /** Null where nobody has said which log it is. */
  deadLetters: DeadLetterLog | null;
}

export function healthOfProjectRoutes({ sql, live, deadLetters }: HealthDeps) {
  const waiting = deadLetters && createWaitingCount({ sql, log: deadLetters });
  return defineRoutes({
    method: 'GET',
    below: belowEnvironment(sql),
    path: '/health',
    operationId: 'health_retrieve',
    summary: 'See whether events arrive',
    description:
      'How soon an event can be seen, what waits in the log, and what became of the project’s events of the last minute. A part whose source does not answer is null, and `sources` says why.',
    tags: ['events'],
    scope: 'event:read',
    responses: { 200: { description: 'How it stands.', schema: projectHealth() } },
    examples: { response: healthExample() },
    handler: async ({ target: { environmentId } }) => {
      const [lag, stored, warnings, letters, connections] = await Promise.all([
        ask(live.lag()),
        ask(countStored(sql, environmentId, windowSeconds)),
        ask(countWarnings(sql, environmentId, windowSeconds)),
        ask(waiting ? waiting.count(environmentId) : Promise.reject(withoutLog())),
        ask(countConnections(sql)),
      ]);
      const dropped = warnings.value?.filter((one) => kindOf(one).outcome === 'dropped');
      return {
        checked_at: new Date().toISOString(),
        version: manifest.version,
        alarm: alarmOf(lag.value?.seconds ?? null),
        visible_after_seconds: lag.value?.seconds ?? null,
        lanes: lag.value?.lanes.map(toShown) ?? null,
        per_minute: {
          stored: stored.value,
          dropped: dropped?.map(({ type, count }) => ({ reason: type, count })) ?? null,
        },
        dead_letters_waiting: letters.value,
        services: connections.value && byService(connections.value),
        sources: {
          log: lag.state,
          events: stored.state,
          warnings: warnings.state,
          dead_letters: letters.state,
          services: connections.state,
        },
      };
    },
  });
}

const withoutLog = () =>
  new AppError('unavailable', 'No event log is known: EVENT_LOG is not set.', { code: 'no_event_log' });

/** What a source says. One that is away, or slow, hides its own part alone. */
async function ask<Value>(source: Promise<Value>): Promise<{ value: Value | null; state: string }> {
  try {
    return { value: await withDeadline(source, patienceMs, 'This'), state: 'ok' };
  } catch (error) {
    if (isAppError(error, 'unavailable')) return { value: null, state: error.message };
    if (isTransientError(error)) return { value: null, state: 'The database did not answer in time.' };
    if (!(error instanceof Error) || error.name !== 'DeadlineError') throw error;
    // Nobody waits for it any more, but it may still fail.
    source.catch(() => {});
    return { value: null, state: 'It takes longer than usual. Ask again.' };
  }
}

function alarmOf(lag: number | null) {
  if (lag === null || lag <= alarmSeconds) return null;
  const minutes = Math.round(lag / 60);
  const detail = `Events are seen ${minutes} minutes after they were sent. Nothing is lost: they wait in the log.`;
  return { lag_seconds: lag, threshold_seconds: alarmSeconds, detail };
}

function toShown({ lane, waiting, oldestSeconds, acceptedPerMinute, readAt }: LaneLag) {
  return {
    lane,
    waiting,
    oldest_seconds: oldestSeconds,
    accepted_per_minute: acceptedPerMinute,
    read_at: readAt && formatDateTime(readAt),
  };
}

const services = ['ingest-gateway', 'event-consumer', 'management-api', 'delivery-worker'] as const;

/** Each service names itself to the database, and what a connection is for behind that. */
function byService(connections: readonly { application: string; count: number }[]) {
  return services.map((name) => ({
    name,
    connections: connections
      .filter(({ application }) => application.includes(name))
      .reduce((sum, { count }) => sum + count, 0),
  }));
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
  const lane = Type.Object({
    lane: Type.Enum(lanes, { description: 'The lane.' }),
    waiting: Type.Integer({ description: 'Records that were accepted and are not stored yet.' }),
    oldest_seconds: orNull(
      Type.Number(),
      'The age of the oldest of them, at most; null where only its existence is known.',
    ),
    accepted_per_minute: orNull(
      Type.Integer(),
      'Records that the log took in a minute, by two looks at its ends; null until it was looked at twice.',
    ),
    read_at: orNull(Type.String({ format: 'date-time' }), 'When something of the lane was last stored.'),
  });
  const service = Type.Object({
    name: Type.Enum(services, { description: 'The service.' }),
    connections: Type.Integer({
      description: 'Its connections to PostgreSQL now. None: it does not run, or had nothing to ask for a while.',
    }),
  });
  const state = Type.String({ description: '`ok`, or why its part is not known.' });
  return Type.Object(
    {
      checked_at: Type.String({ format: 'date-time', description: 'When this was measured.' }),
      version: Type.String({ description: 'Version of the API that answers.' }),
      alarm: orNull(alarm, 'Set while events are later than the threshold.'),
      visible_after_seconds: orNull(
        Type.Number(),
        'How far what is stored is behind what was accepted, in seconds, at most; of all projects.',
      ),
      lanes: orNull(Type.Array(lane), 'The lanes of the log, of all projects.'),
      per_minute: Type.Object(
        {
          stored: orNull(
            Type.Integer(),
            'Events that were stored in the last minute. Late ones and imports are left out.',
          ),
          dropped: orNull(Type.Array(reason), 'Events that were dropped in the last minute, by reason.'),
        },
        { description: 'What became of the project’s events of the last minute.' },
      ),
      dead_letters_waiting: orNull(
        Type.Integer(),
        'Dead letters of the project that wait, at most 10000; counted anew at most every half minute.',
      ),
      services: orNull(Type.Array(service), 'The services of the installation, as PostgreSQL sees them.'),
      sources: Type.Object(
        { log: state, events: state, warnings: state, dead_letters: state, services: state },
        { description: 'Whether what is measured could be asked.' },
      ),
    },
    { title: 'ProjectHealth' },
  );
}

function healthExample() {
  const ok = 'ok';
  return {
    checked_at: '2026-01-02T03:04:05.000Z',
    version: '0.1.0',
    alarm: null,
    visible_after_seconds: 0.2,
    lanes: [
      {
        lane: 'live' as const,
        waiting: 3,
        oldest_seconds: 0.2,
        accepted_per_minute: 745,
        read_at: '2026-01-02T03:04:04.9Z',
      },
    ],
    per_minute: { stored: 744, dropped: [{ reason: 'message_size_too_large', count: 1 }] },
    dead_letters_waiting: 0,
    services: [{ name: 'ingest-gateway' as const, connections: 2 }],
    sources: { log: ok, events: ok, warnings: ok, dead_letters: ok, services: ok },
  };
}
