// How far what is stored is behind what was accepted, by lane.

import { consumerGroup, type Lane, lanes, outputGroup, type TopicNames } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import type { EventLog, PartitionEnd } from '@millrace/event-log';
import { isAppError, sleep } from '@millrace/runtime';
import { readPositions, type StoredPosition } from './store.ts';

/** An import may take hours; nobody takes that for a delay. */
const isAwaited = (lane: Lane) => lane !== 'historical';

export interface LagDeps {
  log: Pick<EventLog, 'endOffsets'>;
  sql: Sql;
  topics: TopicNames;
  topicPrefix: string;
  /** Stored events are published: what is not published yet is not there yet. */
  publishes: boolean;
}

export interface LaneLag {
  lane: Lane;
  /** Records that were accepted and are not there yet. */
  waiting: number;
  /** Of the oldest of them: at most so old. Null where only its existence is known. */
  oldestSeconds: number | null;
  /** Records that the log took in a minute; null until it was looked at twice. */
  acceptedPerMinute: number | null;
  /** When something of the lane was last stored. */
  readAt: Date | null;
}

export interface Lag {
  /** The age of the oldest event that was accepted and is not there yet, imports left out. */
  seconds: number;
  /** Without a lane that has no topic. */
  lanes: LaneLag[];
}

interface Looked {
  lane: Lane;
  ends: (PartitionEnd & { key: string; stored: StoredPosition | undefined })[];
}

/** Shorter would say little of what arrives by fits and starts; longer would be no news. */
const [leastMs, mostMs] = [5000, 75_000];

/**
 * The log tells offsets, not times: an event is at most as old as the time since its partition was last seen read to its end, or since
 * the last read record was appended, whichever is shorter.
 */
export function createLag({ log, sql, topics, topicPrefix, publishes }: LagDeps) {
  const groups = lanes.map((lane) => (publishes ? outputGroup : consumerGroup)(lane, topicPrefix));
  /** When each partition was last seen read to its end. */
  const endSeenAt = new Map<string, number>();
  const acceptedOf = createAcceptedCount();
  let measuring: Promise<Lag> | undefined;

  async function look(): Promise<Looked[]> {
    const [positions, ...ends] = await Promise.all([
      readPositions(sql, groups),
      ...lanes.map(async (lane) => ({ lane, ends: await endsOf(lane) })),
    ]);
    return ends
      .filter(({ ends }) => ends.length > 0)
      .map(({ lane, ends }) => ({
        lane,
        ends: ends.map((end) => ({
          ...end,
          key: `${topics[lane]} ${end.partition}`,
          stored: positions.find(
            ({ topic, partition, log: ownLog }) =>
              topic === topics[lane] && partition === end.partition && ownLog === end.log,
          ),
        })),
      }));
  }

  async function endsOf(lane: Lane): Promise<PartitionEnd[]> {
    try {
      return await log.endOffsets(topics[lane]);
    } catch (error) {
      if (!isAwaited(lane) && isAppError(error, 'unavailable')) return [];
      throw error;
    }
  }

  function unreadOf({ ends }: Looked) {
    return ends.filter(({ key, stored, endOffset }) => {
      const isUnread = BigInt(stored?.next_offset ?? 0) < endOffset;
      if (!isUnread) endSeenAt.set(key, Date.now());
      return isUnread;
    });
  }

  async function measure(): Promise<Lag> {
    let looked = await look();
    const awaited = () => looked.filter(({ lane }) => isAwaited(lane)).flatMap(unreadOf);
    // What is on its way at this moment is no delay; only a second look tells.
    if (awaited().some(({ key }) => !endSeenAt.has(key))) {
      await sleep(300);
      looked = await look();
    }
    const now = Date.now();
    const accepted = acceptedOf(looked, now);
    const measured = looked.map((one): LaneLag & { age: number } => {
      const unread = unreadOf(one);
      const ages = unread
        .map(({ key, stored }) => now - Math.max(endSeenAt.get(key) ?? 0, appendedAt(stored?.record_before)))
        .filter((age) => age < now);
      const age = Math.max(0, ...ages);
      return {
        age,
        lane: one.lane,
        waiting: unread.reduce((sum, end) => sum + Number(end.endOffset - BigInt(end.stored?.next_offset ?? 0)), 0),
        oldestSeconds: unread.length > 0 && ages.length === 0 ? null : inSeconds(age),
        acceptedPerMinute: accepted.get(one.lane) ?? null,
        readAt: latest(one.ends.map(({ stored }) => stored?.updated_at)),
      };
    });
    // Of a partition of which nothing was ever read, only the time it is watched is known.
    for (const { key, stored } of looked.flatMap(unreadOf)) {
      if (appendedAt(stored?.record_before) === 0 && !endSeenAt.has(key)) endSeenAt.set(key, now);
    }
    const ages = measured.filter(({ lane }) => isAwaited(lane)).map(({ age }) => age);
    return { seconds: inSeconds(Math.max(0, ...ages)), lanes: measured.map(({ age: _, ...lane }) => lane) };
  }

  return {
    /** @throws AppError `unavailable` when the log does not answer. */
    measure(): Promise<Lag> {
      measuring ??= measure().finally(() => {
        measuring = undefined;
      });
      return measuring;
    },
  };
}

/** Counts how many records each lane takes in a minute: how far it is now, against an earlier look. */
function createAcceptedCount() {
  let reached: { at: number; ends: Map<Lane, bigint> }[] = [];
  return (looked: readonly Looked[], now: number): Map<Lane, number> => {
    const ends = new Map(
      looked.map(({ lane, ends }) => [lane, ends.reduce((sum, { endOffset }) => sum + endOffset, 0n)]),
    );
    reached = [...reached.filter(({ at }) => now - at <= mostMs), { at: now, ends }];
    const earlier = reached.find(({ at }) => now - at >= leastMs);
    const perMinute = new Map<Lane, number>();
    if (earlier === undefined) return perMinute;
    for (const [lane, end] of ends) {
      const taken = end - (earlier.ends.get(lane) ?? end);
      // A topic that was made anew begins again.
      if (earlier.ends.has(lane) && taken >= 0n)
        perMinute.set(lane, Math.round((Number(taken) * 60_000) / (now - earlier.at)));
    }
    return perMinute;
  };
}

const inSeconds = (ms: number) => Math.round(ms / 100) / 10;

function latest(times: readonly (Date | undefined)[]): Date | null {
  const known = times.filter((time) => time !== undefined).map((time) => time.getTime());
  return known.length === 0 ? null : new Date(Math.max(...known));
}

/** When the record was appended that a stored position is behind (`recordMark`); 0 when it is not known. */
function appendedAt(mark: string | null | undefined): number {
  return Number(mark?.split('/')[1] ?? 0);
}
