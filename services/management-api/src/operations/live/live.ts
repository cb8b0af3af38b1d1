// Runs live event streams, from the request to the end of the stream.

import type { TopicNames } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import type { EventLog } from '@millrace/event-log';
import { MessageStream } from '@millrace/http';
import { AppError, type Logger, type Metrics } from '@millrace/runtime';
import { LRUCache } from 'lru-cache';
import type { Static } from 'typebox';
import { createThrottledError } from '../../access/rate-limit.ts';
import { checkStreamAccess, type GrantedAccess, type StreamAccess } from './access.ts';
import { readStreamFilter, type streamQuery } from './filters.ts';
import { createLagMeter, type Lag } from './lag.ts';
import { createEventSource } from './source.ts';
import { countActiveUsers, findEndedStreams } from './store.ts';
import { createStream, type LiveStream, type StreamTimes } from './stream.ts';

export interface LiveTimes extends StreamTimes {
  tickMs: number;
  /** Interval in milliseconds for checking whether sessions, keys and memberships still exist. */
  checkMs: number;
  /** Interval in milliseconds for repeating all access checks of a stream. */
  recheckMs: number;
}

export const liveTimes: LiveTimes = {
  tickMs: 1000,
  checkMs: 1500,
  recheckMs: 20_000,
  heartbeatMs: 10_000,
  stalledMs: 60_000,
  longestMs: 30 * 60_000,
  filterMsPerSecond: 20,
};

export interface LiveDeps {
  /** The event log, or null if none is configured. */
  log: EventLog | null;
  topics: TopicNames;
  topicPrefix: string;
  publishes: boolean;
  sql: Sql;
  logger: Logger;
  metrics: Metrics;
  streamsPerUser: number;
  streamsPerProject: number;
  streamsPerProcess: number;
  times?: Partial<LiveTimes>;
}

export type Live = ReturnType<typeof createLive>;

interface StreamRequest {
  access: StreamAccess;
  granted: GrantedAccess;
  query: Static<typeof streamQuery>;
  isPlain: boolean;
}

/** A user counts as active for this many seconds after their last event. */
const windowSeconds = 60;

/** Creates the live streams of this process. Reads nothing while no stream is open. */
export function createLive({ log, ...deps }: LiveDeps) {
  const { sql, metrics } = deps;
  const times = { ...liveTimes, ...deps.times };
  const open = createAccessWatch({ ...deps, times });
  const slots = createStreamSlots(deps);
  const sources = log === null ? null : createSources({ ...deps, log });
  const gauge = metrics.gauge('millrace_live_streams', 'Open live event streams');
  const missed = metrics.counter(
    'millrace_live_missed_total',
    'Live events skipped because a client was reading too slowly',
  );
  const users = createActiveUserCounts(sql);
  let isStopping = false;

  function requireSources() {
    if (isStopping)
      throw new AppError('unavailable', 'The service is shutting down. Reconnect in a few seconds.', {
        retryAfterSeconds: 2,
      });
    if (sources !== null) return sources;
    throw new AppError(
      'unavailable',
      'Live events are not available because EVENT_LOG is not set for the management API.',
      {
        code: 'live_events_off',
        retryAfterSeconds: 300,
      },
    );
  }

  const measures = setInterval(() => {
    if (open.streams().length > 0) void sources?.measure();
  }, times.tickMs * 2).unref();

  /**
   * Opens a stream: reads its filter, takes one of the limited slots and starts the source. The stream sends events
   * until the client disconnects, its access ends, half an hour has passed, or the process stops.
   * @throws AppError `invalid` naming a parameter, `rate_limited` or `unavailable` if no slot is free, or `unavailable`
   *   if no log is configured
   */
  async function openStream({ access, granted, query, isPlain }: StreamRequest): Promise<MessageStream> {
    const { source, measure, lagSeconds } = requireSources();
    const filter = readStreamFilter(query, granted);
    const releaseSlot = slots.take(access);
    const since = await source.begin().catch((error) => {
      releaseSlot();
      throw error;
    });
    await measure();
    const showsDrops = granted.seesDrops && !isPlain;
    return new MessageStream(streamHeaders, (output) => {
      const hello = JSON.stringify(describeStream({ ...filter, ...deps, showsDrops, lagSeconds: lagSeconds() }));
      output.write(isPlain ? `: hello ${hello}\n\n` : `event: hello\ndata: ${hello}\n\n`);
      const stream = createStream({
        ...{ output, filter, showsDrops, isPlain, times, lagSeconds },
        missed: (count) => missed.inc(count),
      });
      const unwatch = source.watch(access.environmentId, stream, since);
      // Each stream has its own timer. Processing a thousand streams at the same time would block other requests.
      const ticks = setInterval(() => stream.tick(), times.tickMs);
      const unwatchAccess = open.watch(stream, access);
      gauge.set(open.streams().length);
      const close = () => {
        clearInterval(ticks);
        unwatchAccess();
        unwatch();
        gauge.set(open.streams().length);
        releaseSlot();
      };
      output.on('close', close);
      if (output.destroyed) close();
      else if (isStopping) stream.end('The service is shutting down. Reconnect in a few seconds.', retryMs());
    });
  }

  return {
    openStream,
    /** Returns the lag. @throws AppError `unavailable` if no log is configured or the log does not respond */
    async lag(): Promise<Lag> {
      return requireSources().lag.measure();
    },
    async stats(environmentId: number) {
      const { lag } = requireSources();
      const [users_on_product, { seconds }] = await Promise.all([users.count(environmentId), lag.measure()]);
      return { users_on_product, active_recordings: 0, window_seconds: windowSeconds, lag_seconds: seconds };
    },
    /** Ends all streams. New requests get 503, so that clients connect to another process. */
    async stop(): Promise<void> {
      isStopping = true;
      clearInterval(measures);
      open.stop();
      for (const stream of open.streams())
        stream.end('The service is shutting down. Reconnect in a few seconds.', retryMs());
      await sources?.source.stop();
    },
  };
}

function createAccessWatch({ sql, logger, times }: Pick<LiveDeps, 'sql' | 'logger'> & { times: LiveTimes }) {
  const open = new Map<LiveStream, StreamAccess>();
  async function check(stream: LiveStream, access: StreamAccess): Promise<void> {
    try {
      const granted = await checkStreamAccess(sql, access);
      if (typeof granted === 'string') stream.end(granted);
    } catch (error) {
      logger.warn('could not check access to a live event stream; closing it', { error });
      stream.end('We could not verify your access. Reconnect in a few seconds.', retryMs());
    }
  }
  /**
   * Ends streams within two seconds after their session, key or membership has ended. Other routes reject requests
   * within the same time.
   */
  async function checkAll(): Promise<void> {
    const watched = [...open];
    if (watched.length === 0) return;
    const ended = await findEndedStreams(
      sql,
      watched.map(([, access]) => access),
    );
    for (const [place, [stream, access]] of watched.entries()) if (ended.has(place)) await check(stream, access);
  }
  let isChecking = false;
  const allChecks = setInterval(() => {
    // Skip this check while the database is still processing the previous one.
    if (isChecking) return;
    isChecking = true;
    checkAll()
      .catch((error) =>
        logger.warn(
          'could not check which live event streams have lost access; each stream is checked at its own interval instead',
          { error },
        ),
      )
      .finally(() => {
        isChecking = false;
      });
  }, times.checkMs).unref();
  return {
    streams: () => [...open.keys()],
    /** Repeats the access checks of a stream. @returns a function to call when the stream has ended */
    watch(stream: LiveStream, access: StreamAccess): () => void {
      // Each stream has its own timer. Checking a thousand streams at the same time would block other requests.
      const checks = setInterval(() => void check(stream, access), times.recheckMs);
      open.set(stream, access);
      return () => {
        clearInterval(checks);
        open.delete(stream);
      };
    },
    stop: () => clearInterval(allChecks),
  };
}

function createSources({ log, logger, ...deps }: Omit<LiveDeps, 'log'> & { log: EventLog }) {
  const source = createEventSource({ ...deps, log, logger, topic: deps.topics.processed });
  const lag = createLagMeter({ ...deps, log });
  let lagSeconds: number | null = null;
  return {
    source,
    lag,
    /** The last measured lag, or null if the log did not respond. */
    lagSeconds: () => lagSeconds,
    /** Measures the lag. Reports failures to the streams, and never throws. */
    async measure(): Promise<void> {
      try {
        lagSeconds = (await lag.measure()).seconds;
        source.reportTrouble(null);
      } catch (error) {
        if (lagSeconds !== null) logger.warn('could not measure the lag of live events', { error });
        lagSeconds = null;
        source.reportTrouble('The event log does not respond.');
      }
    },
  };
}

/** A count is reused for two seconds, because pages request it every few seconds. */
function createActiveUserCounts(sql: Sql) {
  const counts = new LRUCache<number, Promise<number>>({ max: 1000, ttl: 2000 });
  return {
    count(environmentId: number): Promise<number> {
      const known = counts.get(environmentId);
      if (known !== undefined) return known;
      const count = countActiveUsers(sql, environmentId, windowSeconds);
      counts.set(environmentId, count);
      count.catch(() => counts.delete(environmentId));
      return count;
    },
  };
}

const streamHeaders = { 'Cache-Control': 'no-cache, no-store', 'X-Accel-Buffering': 'no' };

/** Returns a random delay in milliseconds, so that clients do not all reconnect at the same time. */
const retryMs = () => 1000 + Math.floor(Math.random() * 9000);

/** Returns the first message of a stream. It describes what the stream contains and what it omits. */
function describeStream(stream: {
  publishes: boolean;
  showsDrops: boolean;
  showsPlaces: boolean;
  ignoredFilters: number;
  lagSeconds: number | null;
}): Record<string, unknown> {
  const { publishes, showsDrops, showsPlaces, ignoredFilters, lagSeconds } = stream;
  const reasons = [
    ...(showsPlaces ? ['Location data is not available, so no events are shown.'] : []),
    ...(publishes
      ? []
      : ['Stored events are not shown. Set PUBLISH_PROCESSED=on for the event consumer and the management API.']),
  ];
  return {
    stored: publishes && !showsPlaces,
    dropped: showsDrops && !showsPlaces,
    why: reasons.length > 0 ? reasons.join(' ') : null,
    ...(ignoredFilters > 0 && { ignored_filters: ignoredFilters }),
    lag_seconds: lagSeconds,
  };
}

type Limits = Pick<LiveDeps, 'streamsPerUser' | 'streamsPerProject' | 'streamsPerProcess' | 'metrics'>;

function createStreamSlots({ streamsPerUser, streamsPerProject, streamsPerProcess, metrics }: Limits) {
  const refused = metrics.counter(
    'millrace_live_refused_total',
    'Rejected live event streams, by the limit that was reached',
    ['limit'],
  );
  const heldSlots = new Map<string, number>();
  const add = (name: string, by: number) => {
    const count = (heldSlots.get(name) ?? 0) + by;
    if (count > 0) heldSlots.set(name, count);
    else heldSlots.delete(name);
  };
  return {
    /**
     * Takes a slot for a stream.
     * @returns a function that releases the slot. Repeated calls have no effect.
     * @throws AppError `rate_limited`, or `unavailable` if this process has no free slot, although another process may
     *   have one
     */
    take({ userId, environmentId }: StreamAccess): () => void {
      const names = [`user ${userId}`, `environment ${environmentId}`, 'process'];
      const [ofUser = 0, ofProject = 0, ofProcess = 0] = names.map((name) => heldSlots.get(name));
      if (ofUser >= streamsPerUser) {
        refused.inc({ limit: 'user' });
        throw createThrottledError(
          10,
          `You have ${streamsPerUser} live event streams open, which is the maximum. Close one of them.`,
        );
      }
      if (ofProject >= streamsPerProject) {
        refused.inc({ limit: 'project' });
        throw createThrottledError(
          10,
          `The project has ${streamsPerProject} live event streams open, which is the maximum. Close one of them.`,
        );
      }
      if (ofProcess >= streamsPerProcess) {
        refused.inc({ limit: 'process' });
        throw new AppError(
          'unavailable',
          `All ${streamsPerProcess} live event streams of this process are in use. Try again later.`,
          {
            code: 'live_streams_taken',
            retryAfterSeconds: 10,
          },
        );
      }
      let isHeld = true;
      for (const name of names) add(name, 1);
      return () => {
        if (isHeld) for (const name of names) add(name, -1);
        isHeld = false;
      };
    },
  };
}
