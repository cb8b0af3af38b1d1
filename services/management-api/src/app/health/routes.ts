// Reports whether a project's events are being stored, and with what delay.

import { eventTopics } from '@millrace/contracts';
import { isTransientError, type Sql } from '@millrace/db';
import { formatDateTime, orNull } from '@millrace/http';
import { type CopiedUntil, readCopiedUntil } from '@millrace/insights';
import { AppError, isAppError, withDeadline } from '@millrace/runtime';
import { Type } from 'typebox';
import manifest from '../../../../../package.json' with { type: 'json' };
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import type { TimeLimitedEventStore } from '../../analytics/events/reads.ts';
import type { DeadLetterLog } from '../../operations/dead-letters/read-dead-letters.ts';
import { createWaitingCount } from '../../operations/dead-letters/waiting-count.ts';
import type { TopicLag } from '../../operations/live/lag.ts';
import type { Live } from '../../operations/live/live.ts';
import { findWarningKind } from '../../operations/live/warning-kinds.ts';
import { countConnections, countStoredEvents, countWarnings, hasSqlRole } from './store.ts';

/** Lag in seconds that raises the alarm. Must match the alert MillraceLagSeconds (docs/operations/alerts.md). */
const alarmSeconds = 300;
const windowSeconds = 60;
/**
 * Milliseconds to wait for each section of the overview. The limit is short, because all pages of the console request
 * the overview. A slower section is missing from this response, and is included in the next one.
 */
const patienceMs = 3000;

interface HealthDeps {
  sql: Sql;
  live: Live;
  /** Null if no event log is configured. */
  deadLetterLog: DeadLetterLog | null;
  /** Null if queries read from PostgreSQL. */
  externalEventStore: TimeLimitedEventStore | null;
}

export function healthOfProjectRoutes({ sql, live, deadLetterLog, externalEventStore }: HealthDeps) {
  const waiting = deadLetterLog && createWaitingCount({ sql, log: deadLetterLog });
  return defineRoutes({
    method: 'GET',
    below: environmentBasePaths(sql),
    path: '/health',
    operationId: 'health_retrieve',
    summary: 'Show whether events are being ingested',
    description:
      'Returns how long it takes until an event can be queried, how many records are waiting in the event log, and what happened to the ' +
      "project's " +
      'events in the last minute. If a source does not respond, its part of the response is null and `sources` ' +
      'contains the reason.',
    tags: ['events'],
    scope: 'event:read',
    responses: { 200: { description: 'The current state of ingestion.', schema: projectHealth() } },
    examples: { response: healthExample() },
    handler: async ({ target: { environmentId } }) => {
      const [lag, stored, warnings, deadLetters, connections, role, copies] = await Promise.all([
        ask(live.lag()),
        ask(countStoredEvents(sql, environmentId, windowSeconds)),
        ask(countWarnings(sql, environmentId, windowSeconds)),
        ask(waiting ? waiting.count(environmentId) : Promise.reject(withoutLog())),
        ask(countConnections(sql)),
        ask(hasSqlRole(sql)),
        ask(externalEventStore === null ? Promise.resolve(null) : readCopiedUntil(sql)),
      ]);
      const dropped = warnings.value?.filter((one) => findWarningKind(one).outcome === 'dropped');
      return {
        checked_at: new Date().toISOString(),
        version: manifest.version,
        alarm: alarmOf(lag.value?.seconds ?? null),
        visible_after_seconds: lag.value?.seconds ?? null,
        topics: lag.value?.topics.map(toShown) ?? null,
        per_minute: {
          stored: stored.value,
          dropped: dropped?.map(({ type, count }) => ({ reason: type, count })) ?? null,
        },
        dead_letters_waiting: deadLetters.value,
        services: connections.value && byService(connections.value),
        sql_role: role.value,
        clickhouse: copies.value && toAges(copies.value),
        sources: {
          log: lag.state,
          events: stored.state,
          warnings: warnings.state,
          dead_letters: deadLetters.state,
          services: connections.state,
        },
      };
    },
  });
}

const withoutLog = () =>
  new AppError('unavailable', 'Dead letters are not available because EVENT_LOG is not set.', { code: 'no_event_log' });

/**
 * Returns the value of a source, or null if the source fails or is slow. A failing source then affects only its own
 * section of the response.
 */
async function ask<Value>(source: Promise<Value>): Promise<{ value: Value | null; state: string }> {
  try {
    return { value: await withDeadline(source, patienceMs, 'This'), state: 'ok' };
  } catch (error) {
    if (isAppError(error, 'unavailable')) return { value: null, state: error.message };
    if (isTransientError(error)) return { value: null, state: 'The database did not respond in time.' };
    if (!(error instanceof Error) || error.name !== 'DeadlineError') throw error;
    // The response no longer waits for the source. Without a handler, its rejection would be unhandled.
    source.catch(() => {});
    return { value: null, state: 'The measurement is taking longer than usual. Try again in a moment.' };
  }
}

function alarmOf(lag: number | null) {
  if (lag === null || lag <= alarmSeconds) return null;
  const minutes = Math.round(lag / 60);
  const detail = `Events appear ${minutes} minutes after they are sent. No events are lost: they are waiting in the event log.`;
  return { lag_seconds: lag, threshold_seconds: alarmSeconds, detail };
}

function toAges({ events, persons }: CopiedUntil) {
  const ageOf = (time: Date | null) => time && Math.max(0, Math.round((Date.now() - time.getTime()) / 1000));
  return { events_age_seconds: ageOf(events), persons_age_seconds: ageOf(persons) };
}

function toShown({ topic, waiting, oldestSeconds, acceptedPerMinute, readAt }: TopicLag) {
  return {
    topic,
    waiting,
    oldest_seconds: oldestSeconds,
    accepted_per_minute: acceptedPerMinute,
    read_at: readAt && formatDateTime(readAt),
  };
}

const services = ['ingest-gateway', 'event-consumer', 'management-api', 'delivery-worker'] as const;

/** Groups connections by service. A connection's application name starts with the service name. */
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
    reason: Type.String({ description: 'Type of the ingestion warning (docs/ingestion-rules.md#warnings).' }),
    count: Type.Integer(),
  });
  const alarm = Type.Object({
    lag_seconds: Type.Number(),
    threshold_seconds: Type.Integer(),
    detail: Type.String({ description: 'Human-readable explanation.' }),
  });
  const topic = Type.Object({
    topic: Type.Enum(eventTopics, { description: 'Topic of the event log.' }),
    waiting: Type.Integer({ description: 'Number of records that have been accepted but not stored yet.' }),
    oldest_seconds: orNull(
      Type.Number(),
      'Upper limit for the age of the oldest waiting record, in seconds. Null if its age is not known.',
    ),
    accepted_per_minute: orNull(
      Type.Integer(),
      'Number of records accepted per minute, calculated from two measurements. Null until the second measurement.',
    ),
    read_at: orNull(Type.String({ format: 'date-time' }), 'When a record of this topic was last stored.'),
  });
  const service = Type.Object({
    name: Type.Enum(services, { description: 'Name of the service.' }),
    connections: Type.Integer({
      description:
        'Number of current connections from the service to PostgreSQL. 0 means that it is not running or has been idle for a while.',
    }),
  });
  const copies = Type.Object({
    events_age_seconds: orNull(
      Type.Integer(),
      'Age of the newest event that is known to be in ClickHouse, in seconds. Null until the copy has begun.',
    ),
    persons_age_seconds: orNull(
      Type.Integer(),
      'Age of the newest person properties that are known to be in ClickHouse, in seconds. Null while queries read persons from PostgreSQL, because not all persons have been copied yet.',
    ),
  });
  const state = Type.String({ description: '`ok`, or the reason why the source did not respond.' });
  return Type.Object(
    {
      checked_at: Type.String({ format: 'date-time', description: 'Time of the measurement.' }),
      version: Type.String({ description: 'Version of the API that sent this response.' }),
      alarm: orNull(alarm, 'Alarm raised while the lag exceeds the threshold. Otherwise null.'),
      visible_after_seconds: orNull(
        Type.Number(),
        'Upper limit for the ingestion lag of all projects, in seconds. The lag is the delay between accepting an event and storing it.',
      ),
      topics: orNull(Type.Array(topic), 'Event log topics. The numbers include the records of all projects.'),
      per_minute: Type.Object(
        {
          stored: orNull(
            Type.Integer(),
            'Number of events stored in the last minute. Late and imported events are not included.',
          ),
          dropped: orNull(Type.Array(reason), 'Events dropped in the last minute, by reason.'),
        },
        { description: "The project's events in the last minute." },
      ),
      dead_letters_waiting: orNull(
        Type.Integer(),
        'Number of waiting dead-letter records of the project, counted up to 10000. Updated at most every 30 seconds.',
      ),
      services: orNull(
        Type.Array(service),
        'Services of the installation, with the number of their connections to PostgreSQL.',
      ),
      sql_role: orNull(
        Type.Boolean(),
        'Whether SQL queries run with the database role `millrace_sql`, which can read only events, persons, groups and cohorts. Null if the database did not respond.',
      ),
      clickhouse: orNull(
        copies,
        'How old the copies in ClickHouse are. Null if queries read PostgreSQL, or if the database did not respond.',
      ),
      sources: Type.Object(
        { log: state, events: state, warnings: state, dead_letters: state, services: state },
        { description: 'State of each source that this response is based on.' },
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
    topics: [
      {
        topic: 'live' as const,
        waiting: 3,
        oldest_seconds: 0.2,
        accepted_per_minute: 745,
        read_at: '2026-01-02T03:04:04.9Z',
      },
    ],
    per_minute: { stored: 744, dropped: [{ reason: 'message_size_too_large', count: 1 }] },
    dead_letters_waiting: 0,
    services: [{ name: 'ingest-gateway' as const, connections: 2 }],
    sql_role: true,
    clickhouse: { events_age_seconds: 9, persons_age_seconds: 4 },
    sources: { log: ok, events: ok, warnings: ok, dead_letters: ok, services: ok },
  };
}
