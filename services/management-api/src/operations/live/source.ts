// Provides the events for all streams. Stored events come from the log, and dropped or changed events from the warnings
// table.

import { setImmediate as nextLoop } from 'node:timers/promises';
import type { ProcessedEvent } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { type EventLog, type PartitionEnd, readTopic } from '@millrace/event-log';
import { type Logger, sleep } from '@millrace/runtime';
import { type DropRow, listDroppedEvents, readClock } from './store.ts';
import { findWarningKind } from './warning-kinds.ts';

export interface LiveEvent {
  /** The event ID, or the warning ID if the warning is not about a single event. */
  id: string;
  event: string | null;
  distinctId: string | null;
  isDrop: boolean;
  isHistorical: boolean;
  properties: Record<string, unknown>;
  personProperties: Record<string, unknown>;
  toMessage(properties: Record<string, unknown>): Record<string, unknown>;
  /** Returns the encoded message with all properties. It is encoded only once, and shared by all streams. */
  frame(): Buffer;
}

export interface Watcher {
  onEvent(event: LiveEvent): void;
  /** Called with a message when the source fails, and with null when the source works again. */
  onTrouble(detail: string | null): void;
}

export interface SourceDeps {
  log: Pick<EventLog, 'consume' | 'endOffsets'>;
  sql: Sql;
  topic: string;
  publishes: boolean;
  logger: Logger;
}

const pollMs = 500;
/**
 * Time in milliseconds after which the process yields to other work. Without yielding, a batch of events for many
 * watchers would block all requests.
 */
const sliceMs = 5;
const maxDrops = 500;
/**
 * Milliseconds by which each query for new warnings overlaps the previous one. Warnings may be committed up to this
 * long after their time, and in a different order.
 */
const overlapMs = 10_000;
/** Number of recent event IDs that are remembered per environment to skip duplicates. */
const maxRemembered = 2000;
/**
 * Milliseconds for which the reader keeps running after the last stream has closed. Joining and leaving a consumer
 * group takes seconds. A page that is reloaded within this time can use the running reader.
 */
const lingerMs = 20_000;

/** Creates the registry of watchers. It contains the watchers of each environment and the IDs of recent events. */
function createWatcherRegistry() {
  const watched = new Map<number, { watchers: Map<Watcher, Date>; seen: Set<string> }>();
  return {
    projectIds: () => [...watched.keys()],
    isWatched: (projectId: number) => watched.has(projectId),
    isEmpty: () => watched.size === 0,
    /** Adds a watcher. Returns a function that removes it. */
    add(projectId: number, watcher: Watcher, since: Date): () => void {
      const project = watched.get(projectId) ?? { watchers: new Map(), seen: new Set() };
      watched.set(projectId, project);
      project.watchers.set(watcher, since);
      return () => {
        project.watchers.delete(watcher);
        if (project.watchers.size === 0 && watched.get(projectId) === project) watched.delete(projectId);
      };
    },
    /**
     * Passes an event to the watchers only once, even if the log delivers it several times.
     * @param storedAt the time when the event was stored, by the database's clock. Watchers that started after this time
     *   do not receive the event. The default is the current time.
     */
    publish(projectId: number, event: LiveEvent, storedAt?: Date): void {
      const project = watched.get(projectId);
      if (project === undefined || project.seen.has(event.id)) return;
      project.seen.add(event.id);
      const [oldest] = project.seen;
      if (project.seen.size > maxRemembered && oldest !== undefined) project.seen.delete(oldest);
      for (const [watcher, since] of project.watchers) {
        if (storedAt === undefined || storedAt > since) watcher.onEvent(event);
      }
    },
    reportTrouble(detail: string | null): void {
      for (const { watchers } of watched.values()) for (const watcher of watchers.keys()) watcher.onTrouble(detail);
    },
  };
}

type Reading = SourceDeps & { registry: ReturnType<typeof createWatcherRegistry>; signal: AbortSignal };

/** Reads the log until stopped. After an error, continues from the last position. */
async function readStored({ log, topic, logger, registry, signal }: Reading, ends: readonly PartitionEnd[]) {
  const positions = new Map(ends.map((end) => [end.partition, end]));
  let sliceBegan = 0;
  while (!signal.aborted) {
    try {
      await readTopic(log, {
        topic,
        from: [...positions.values()],
        until: 'stopped',
        signal,
        async onRecord({ key, value, offset }, partition) {
          const position = positions.get(partition);
          if (position) positions.set(partition, { ...position, endOffset: offset + 1n });
          // The key begins with the environment ID. If the environment has no viewers, the event does not have to be
          // parsed.
          const projectId = Number(key?.slice(0, key.indexOf(':')));
          if (!registry.isWatched(projectId)) return;
          registry.publish(projectId, storedEvent(value));
          if (performance.now() - sliceBegan < sliceMs) return;
          await nextLoop();
          sliceBegan = performance.now();
        },
      });
    } catch (error) {
      logger.warn('could not read live events from the event log; retrying', { topic, error });
      registry.reportTrouble('The event log does not respond.');
      await sleep(1000, signal);
    }
  }
}

async function readDrops({ sql, logger, registry, signal }: Reading, begin: Date): Promise<void> {
  let after = begin;
  let isFailing = false;
  while (!signal.aborted) {
    await sleep(pollMs, signal);
    const projectIds = registry.projectIds();
    if (projectIds.length === 0) continue;
    try {
      const rows = await listDroppedEvents(sql, { projectIds, after, limit: maxDrops });
      for (const row of rows) registry.publish(row.project_id, droppedEvent(row), row.stored_at);
      const last = rows.at(-1)?.stored_at.getTime() ?? 0;
      // After a full page, continue from its last row. Going back by `overlapMs` could return the same full page
      // repeatedly.
      const next = rows.length === maxDrops ? last : last - overlapMs;
      after = new Date(Math.max(after.getTime(), next));
      isFailing = false;
    } catch (error) {
      // Log the failure only once, because the reader retries twice a second.
      if (!isFailing) logger.warn('could not read dropped events for the live event streams; retrying', { error });
      isFailing = true;
    }
  }
}

/**
 * Creates the reader that all streams of this process share. It starts at the end of the log when the first stream
 * opens, and stops some time after the last stream has closed.
 */
export function createEventSource(deps: SourceDeps) {
  const { log, sql, topic, publishes } = deps;
  const registry = createWatcherRegistry();
  let reading: { stopping: AbortController; begun: Promise<void>; ended: Promise<void> } | undefined;
  let linger: NodeJS.Timeout | undefined;

  async function begin(): Promise<void> {
    const stopping = new AbortController();
    const readingDeps = { ...deps, registry, signal: stopping.signal };
    const starting = Promise.all([publishes ? log.endOffsets(topic) : [], readClock(sql)]);
    const ended = starting.then(
      async ([ends, now]) => {
        await Promise.all([publishes ? readStored(readingDeps, ends) : undefined, readDrops(readingDeps, now)]);
      },
      () => {},
    );
    const ownReading = { stopping, begun: starting.then(() => {}), ended };
    reading = ownReading;
    try {
      await ownReading.begun;
    } catch (error) {
      if (reading === ownReading) reading = undefined;
      throw error;
    }
  }

  async function stop(): Promise<void> {
    clearTimeout(linger);
    const last = reading;
    reading = undefined;
    last?.stopping.abort();
    await last?.ended;
  }

  function stopLater(): void {
    clearTimeout(linger);
    linger = setTimeout(() => {
      if (registry.isEmpty()) void stop();
    }, lingerMs).unref();
  }

  return {
    /**
     * Starts to read new events.
     * @returns the current time by the database's clock
     * @throws AppError `unavailable` if the log or the database does not respond
     */
    async begin(): Promise<Date> {
      const [now] = await Promise.all([readClock(sql), reading?.begun ?? begin()]);
      // Schedule a stop, in case the client disconnects before it starts watching.
      stopLater();
      return now;
    },
    /** Starts watching a project's events. Call `begin` first. @returns a function that stops watching */
    watch(projectId: number, watcher: Watcher, since: Date): () => void {
      const removeWatcher = registry.add(projectId, watcher, since);
      return () => {
        removeWatcher();
        if (registry.isEmpty()) stopLater();
      };
    },
    reportTrouble: registry.reportTrouble,
    stop,
  };
}

function storedEvent(value: Buffer): LiveEvent {
  const event = JSON.parse(value.toString('utf8')) as ProcessedEvent;
  return liveEvent({
    id: event.uuid,
    event: event.event,
    distinctId: event.distinct_id,
    isDrop: false,
    isHistorical: event.historical_migration,
    properties: event.properties,
    personProperties: event.person_properties,
    toMessage: (properties) => ({
      uuid: event.uuid,
      timestamp: event.timestamp,
      distinct_id: event.distinct_id,
      person_id: event.person_id,
      event: event.event,
      properties,
      outcome: 'stored',
      captured_at: event.captured_at,
      stored_at: new Date().toISOString(),
    }),
  });
}

/** Creates an event from a warning, with names and IDs but without properties. */
function droppedEvent({ id, type, severity, count, details, timestamp }: DropRow): LiveEvent {
  const sample = (Array.isArray(details.samples) ? details.samples[0] : undefined) ?? {};
  const textOf = (...values: unknown[]): string | null => values.find((value) => typeof value === 'string') ?? null;
  const uuid = textOf(details.eventUuid, sample.uuid);
  const event = textOf(details.event, sample.event);
  const distinctId = textOf(details.distinctId, sample.distinct_id);
  const { outcome, detail, rule } = findWarningKind({ type, severity });
  return liveEvent({
    id,
    event,
    distinctId,
    isDrop: true,
    isHistorical: false,
    properties: {},
    personProperties: {},
    toMessage: () => ({
      uuid,
      timestamp: timestamp.toISOString(),
      distinct_id: distinctId,
      person_id: null,
      event,
      properties: {},
      outcome: outcome === 'dropped' ? 'dropped' : 'changed',
      reason: type,
      detail,
      severity,
      count,
      details,
      rule,
    }),
  });
}

function liveEvent(event: Omit<LiveEvent, 'frame'>): LiveEvent {
  let frame: Buffer | undefined;
  return {
    ...event,
    frame() {
      frame ??= Buffer.from(`data: ${JSON.stringify(event.toMessage(event.properties))}\n\n`);
      return frame;
    },
  };
}
