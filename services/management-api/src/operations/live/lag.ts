// Measures the delay between accepting and storing events, by topic.

import { consumerGroup, type EventTopic, eventTopics, publisherGroup, type TopicNames } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import type { EventLog, PartitionEnd } from '@millrace/event-log';
import { isAppError, sleep } from '@millrace/runtime';
import { readPositions, type StoredPosition } from './store.ts';

/** An import can take hours, so imported events do not count as delayed. */
const isAwaited = (topic: EventTopic) => topic !== 'historical';

export interface LagDeps {
  log: Pick<EventLog, 'endOffsets'>;
  sql: Sql;
  topics: TopicNames;
  topicPrefix: string;
  /** Whether stored events are published. If so, an event counts as stored only after it has been published. */
  publishes: boolean;
}

export interface TopicLag {
  topic: EventTopic;
  /** Number of accepted records that are not stored yet. */
  waiting: number;
  /** Maximum possible age in seconds of the oldest record that is not stored yet, or null if unknown. */
  oldestSeconds: number | null;
  /** Number of records appended to the log per minute, or null before the second measurement. */
  acceptedPerMinute: number | null;
  /** When a record of the topic was last stored. */
  readAt: Date | null;
}

export interface Lag {
  /** Age in seconds of the oldest accepted event that is not stored yet. Ignores imported events. */
  seconds: number;
  topics: TopicLag[];
}

interface TopicState {
  topic: EventTopic;
  ends: (PartitionEnd & { key: string; stored: StoredPosition | undefined })[];
}

/**
 * Minimum and maximum time in milliseconds between the measurements that are compared. The minimum is long enough to
 * average out bursts, and the maximum is short enough to stay current.
 */
const [minWindowMs, maxWindowMs] = [5000, 75_000];

/**
 * Creates the measurement. The log has offsets but no times, so the measurement reports the maximum possible age of an
 * event. This is the shorter of two times: the time since the event's partition was last fully read, and the time since
 * the last read record was appended.
 */
export function createLagMeter({ log, sql, topics, topicPrefix, publishes }: LagDeps) {
  const groups = eventTopics.map((topic) => (publishes ? publisherGroup : consumerGroup)(topic, topicPrefix));
  /** The time when each partition was last fully read. */
  const endSeenAt = new Map<string, number>();
  const acceptedOf = createAcceptedCount();
  let measuring: Promise<Lag> | undefined;

  async function readTopics(): Promise<TopicState[]> {
    const [positions, ...ends] = await Promise.all([
      readPositions(sql, groups),
      ...eventTopics.map(async (topic) => ({ topic, ends: await endsOf(topic) })),
    ]);
    return ends
      .filter(({ ends }) => ends.length > 0)
      .map(({ topic, ends }) => ({
        topic,
        ends: ends.map((end) => ({
          ...end,
          key: `${topics[topic]} ${end.partition}`,
          stored: positions.find(
            (one) => one.topic === topics[topic] && one.partition === end.partition && one.log === end.log,
          ),
        })),
      }));
  }

  async function endsOf(topic: EventTopic): Promise<PartitionEnd[]> {
    try {
      return await log.endOffsets(topics[topic]);
    } catch (error) {
      if (!isAwaited(topic) && isAppError(error, 'unavailable')) return [];
      throw error;
    }
  }

  function unreadOf({ ends }: TopicState) {
    return ends.filter(({ key, stored, endOffset }) => {
      const isUnread = BigInt(stored?.next_offset ?? 0) < endOffset;
      if (!isUnread) endSeenAt.set(key, Date.now());
      return isUnread;
    });
  }

  async function measure(): Promise<Lag> {
    let states = await readTopics();
    const awaited = () => states.filter(({ topic }) => isAwaited(topic)).flatMap(unreadOf);
    // A record that has just arrived is not delayed, so measure again before reporting a delay.
    if (awaited().some(({ key }) => !endSeenAt.has(key))) {
      await sleep(300);
      states = await readTopics();
    }
    const now = Date.now();
    const accepted = acceptedOf(states, now);
    const measured = states.map((one): TopicLag & { age: number } => {
      const unread = unreadOf(one);
      const ages = unread
        .map(({ key, stored }) => now - Math.max(endSeenAt.get(key) ?? 0, appendedAt(stored?.last_record_fingerprint)))
        .filter((age) => age < now);
      const age = Math.max(0, ...ages);
      return {
        age,
        topic: one.topic,
        waiting: unread.reduce((sum, end) => sum + Number(end.endOffset - BigInt(end.stored?.next_offset ?? 0)), 0),
        oldestSeconds: unread.length > 0 && ages.length === 0 ? null : inSeconds(age),
        acceptedPerMinute: accepted.get(one.topic) ?? null,
        readAt: latest(one.ends.map(({ stored }) => stored?.updated_at)),
      };
    });
    // For a partition that was never fully read, the delay starts with the first measurement.
    for (const { key, stored } of states.flatMap(unreadOf)) {
      if (appendedAt(stored?.last_record_fingerprint) === 0 && !endSeenAt.has(key)) endSeenAt.set(key, now);
    }
    const ages = measured.filter(({ topic }) => isAwaited(topic)).map(({ age }) => age);
    return { seconds: inSeconds(Math.max(0, ...ages)), topics: measured.map(({ age: _, ...one }) => one) };
  }

  return {
    /**
     * Measures the lag. Concurrent calls share a measurement.
     * @throws AppError `unavailable` if the log does not respond
     */
    measure(): Promise<Lag> {
      measuring ??= measure().finally(() => {
        measuring = undefined;
      });
      return measuring;
    },
  };
}

/**
 * Estimates how many records per minute are appended to each topic, by comparing the end offsets with those of an
 * earlier measurement.
 */
function createAcceptedCount() {
  let reached: { at: number; ends: Map<EventTopic, bigint> }[] = [];
  return (states: readonly TopicState[], now: number): Map<EventTopic, number> => {
    const ends = new Map(
      states.map(({ topic, ends }) => [topic, ends.reduce((sum, { endOffset }) => sum + endOffset, 0n)]),
    );
    reached = [...reached.filter(({ at }) => now - at <= maxWindowMs), { at: now, ends }];
    const earlier = reached.find(({ at }) => now - at >= minWindowMs);
    const perMinute = new Map<EventTopic, number>();
    if (earlier === undefined) return perMinute;
    for (const [topic, end] of ends) {
      const taken = end - (earlier.ends.get(topic) ?? end);
      // If a topic is recreated, its offsets start at 0 again.
      if (earlier.ends.has(topic) && taken >= 0n)
        perMinute.set(topic, Math.round((Number(taken) * 60_000) / (now - earlier.at)));
    }
    return perMinute;
  };
}

const inSeconds = (ms: number) => Math.round(ms / 100) / 10;

function latest(times: readonly (Date | undefined)[]): Date | null {
  const known = times.filter((time) => time !== undefined).map((time) => time.getTime());
  return known.length === 0 ? null : new Date(Math.max(...known));
}

/** Returns when the last record before a stored position was appended (`recordFingerprint`), or 0 if unknown. */
function appendedAt(fingerprint: string | null | undefined): number {
  return Number(fingerprint?.split('/')[1] ?? 0);
}
