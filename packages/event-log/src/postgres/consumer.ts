// Consumes a topic from the PostgreSQL log as a member of a consumer group.

import type { SqlDatabase } from '@millrace/db/sql';
import { createDeferred, type Logger, limitConcurrency, sleep, withDeadline } from '@millrace/runtime';
import { v7 as uuidv7 } from 'uuid';
import type { ConsumeMetrics } from '../consume/metrics.ts';
import { createTruncationReporter } from '../consume/truncation.ts';
import type { ConsumeOptions, LogConsumer } from '../log.ts';
import {
  type LeasedPartitionReader,
  type LeasedPartitionReaderDeps,
  startLeasedPartitionReader,
} from './leased-partition.ts';
import {
  type GroupState,
  leaveGroup,
  type Member,
  type MembershipState,
  readGroupState,
  releaseLeases,
  renewMembership,
} from './membership-store.ts';

interface PostgresConsumerDeps {
  database: SqlDatabase;
  logger: Logger;
  metrics: ConsumeMetrics;
  /** The interval for polling new records and group members in other processes, in milliseconds. */
  pollIntervalMs: number;
  /** A member loses its partitions after this many milliseconds without a heartbeat. */
  leaseMs: number;
  /** Calls `wake` after each append to the topic by this process. Returns a function that ends the subscription. */
  onAppended(topic: string, wake: () => void): () => void;
}

const drainTimeoutMs = 10_000;
const leaveTimeoutMs = 3000;
const errorPauseMs = 250;

/** Joins a group, sends heartbeats to keep its membership and leases, polls for records, and reads its partitions. */
export function consumeFromPostgres(deps: PostgresConsumerDeps, consume: ConsumeOptions): LogConsumer {
  const { database, logger, leaseMs } = deps;
  const { topic, group } = consume;
  const member: Member = { topic, group, memberId: uuidv7() };
  const membership = createMembership({ database, member, leaseMs });
  const held = createHeldPartitions({
    ...deps,
    consume,
    member,
    truncation: createTruncationReporter({ ...deps, consume }),
    endOffset: membership.endOffset,
    logOf: membership.logOf,
  });
  const stopping = new AbortController();
  const startedAt = performance.now();
  let isSatisfied = false;
  let stopped: Promise<void> | undefined;
  const { promise: ready, resolve: announceJoined } = createDeferred<void>();

  async function look(): Promise<void> {
    const membersChanged = await membership.look();
    if (membersChanged || !isSatisfied || membership.isHeartbeatDue()) follow(await membership.heartbeat());
    held.wakeAll();
  }

  function follow({ share, held: leased }: MembershipState): void {
    for (const partition of held.numbers()) if (!leased.includes(partition)) void held.end(partition);
    // All members release their highest partitions first, so that partitions are not passed back and forth.
    const surplus = leased.slice(share);
    for (const partition of surplus) void held.giveUp(partition);
    if (!stopping.signal.aborted) for (const partition of leased.slice(0, share)) held.begin(partition);
    isSatisfied = held.size() === share && surplus.length === 0;
    if (isSatisfied || performance.now() - startedAt > leaseMs) announceJoined();
  }

  /**
   * If the leases have expired, stops reading. Other members own the partitions by then, so this member's writes would
   * be rejected as stale.
   */
  function dropWhenExpired(): void {
    if (held.size() === 0 || !membership.isExpired()) return;
    logger.warn('consumer lost its partitions: the database is not responding', { topic, group });
    for (const partition of held.numbers()) void held.end(partition);
    isSatisfied = false;
  }

  async function leave(): Promise<void> {
    stopping.abort();
    announceJoined();
    looking.wake();
    forgetAppends();
    await withDeadline(held.endAll(), drainTimeoutMs, 'finishing the in-flight batches').catch((error) => {
      logger.warn('consumer stopped before its in-flight batches finished', { topic, group, error });
    });
    await withDeadline(looking.ended, leaveTimeoutMs, 'ending').catch(() => {});
    await withDeadline(leaveGroup(database.sql, member), leaveTimeoutMs, 'leaving').catch((error) => {
      logger.debug('could not leave the consumer group; the leases of this consumer will expire', {
        topic,
        group,
        error,
      });
    });
  }

  const looking = keepLooking(look, {
    intervalMs: deps.pollIntervalMs,
    failed(error) {
      logger.debug('consumer could not read the event log', { topic, group, error });
      dropWhenExpired();
    },
    signal: stopping.signal,
  });
  const forgetAppends = deps.onAppended(topic, looking.wake);
  logger.info('joined consumer group', { topic, group, memberId: member.memberId });
  return {
    ready,
    stop() {
      stopped ??= leave();
      return stopped;
    },
  };
}

interface Looking {
  intervalMs: number;
  failed(error: unknown): void;
  signal: AbortSignal;
}

function keepLooking(look: () => Promise<void>, { intervalMs, failed, signal }: Looking) {
  let wakeUp = new AbortController();
  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await look();
      } catch (error) {
        failed(error);
        await sleep(errorPauseMs, signal);
      }
      await sleep(intervalMs, wakeUp.signal);
      if (wakeUp.signal.aborted) wakeUp = new AbortController();
    }
  }
  return { wake: () => wakeUp.abort(), ended: run() };
}

interface HeldPartitionsDeps extends Omit<LeasedPartitionReaderDeps, 'partition' | 'endOffset' | 'log' | 'whenFree'> {
  member: Member;
  endOffset(partition: number): bigint;
  logOf(partition: number): string | undefined;
}

function createHeldPartitions(deps: HeldPartitionsDeps) {
  const { database, logger, member, consume } = deps;
  const { topic, group } = consume;
  const whenFree = limitConcurrency(consume.partitionConcurrency);
  const held = new Map<number, LeasedPartitionReader>();
  const ending = new Map<number, Promise<void>>();

  function begin(partition: number): void {
    if (held.has(partition) || ending.has(partition)) return;
    logger.debug('partition acquired', { topic, group, partition });
    held.set(
      partition,
      startLeasedPartitionReader({
        ...deps,
        partition,
        whenFree,
        endOffset: () => deps.endOffset(partition),
        log: () => deps.logOf(partition),
      }),
    );
  }

  /**
   * Stops reading a partition. Resolves when the in-flight batch has finished. Reading can start again only after that.
   */
  function end(partition: number): Promise<void> {
    const reader = held.get(partition);
    if (reader === undefined) return ending.get(partition) ?? Promise.resolve();
    held.delete(partition);
    const ended = reader.stop().finally(() => ending.delete(partition));
    ending.set(partition, ended);
    return ended;
  }

  async function giveUp(partition: number): Promise<void> {
    await end(partition);
    try {
      await releaseLeases(database.sql, member, [partition]);
      logger.debug('partition released', { topic, group, partition });
    } catch (error) {
      // The next heartbeat finds that the lease still exists and tries to release it again.
      logger.debug('could not release the lease of a partition', { topic, group, partition, error });
    }
  }

  return {
    begin,
    end,
    giveUp,
    size: () => held.size,
    numbers: () => [...held.keys()],
    wakeAll(): void {
      for (const partition of held.values()) partition.wake();
    },
    endAll: () => Promise.all([...held.keys(), ...ending.keys()].map(end)),
  };
}

/** Stores the last group state that the member has read, and the time of the member's last heartbeat. */
function createMembership({ database, member, leaseMs }: { database: SqlDatabase; member: Member; leaseMs: number }) {
  let known: GroupState = { ends: new Map(), logs: new Map(), members: '' };
  let lastHeartbeatAt = Number.NEGATIVE_INFINITY;

  function bounded<T>(work: Promise<T>): Promise<T> {
    return withDeadline(work, leaseMs, 'reading the state of the event log');
  }

  return {
    endOffset: (partition: number) => known.ends.get(partition) ?? 0n,
    logOf: (partition: number) => known.logs.get(partition),
    /** Reads the group's state again. @returns whether members have joined or left */
    async look(): Promise<boolean> {
      const { members } = known;
      known = await bounded(readGroupState(database.sql, member));
      return members !== known.members;
    },
    isHeartbeatDue: () => performance.now() - lastHeartbeatAt > leaseMs / 3,
    isExpired: () => performance.now() - lastHeartbeatAt >= leaseMs,
    async heartbeat(): Promise<MembershipState> {
      const beganAt = performance.now();
      const state = await bounded(database.transaction((tx) => renewMembership(tx, member, leaseMs)));
      lastHeartbeatAt = beganAt;
      return state;
    },
  };
}
