import type { SqlDatabase } from '@millrace/db/sql';
import type { Logger } from '@millrace/runtime';
import { v7 as uuidv7 } from 'uuid';
import { sleep } from '../consume/backoff.ts';
import type { ConsumeMetrics } from '../consume/consume-metrics.ts';
import { limitConcurrency } from '../consume/limit-concurrency.ts';
import { createTruncation } from '../consume/truncation.ts';
import type { ConsumeOptions, LogConsumer } from '../port/event-log.ts';
import { withDeadline } from '../port/with-deadline.ts';
import { type LeasedPartition, readLeasedPartition } from './leased-partition.ts';
import {
  type GroupState,
  heartbeat,
  leaveGroup,
  type Member,
  type MembershipState,
  readGroupState,
  releaseLeases,
} from './membership-store.ts';

export interface PostgresConsumerDeps {
  database: SqlDatabase;
  logger: Logger;
  metrics: ConsumeMetrics;
  /** How often other processes' appends and members are looked for. */
  pollIntervalMs: number;
  /** A member that is silent for this long has lost its partitions. */
  leaseMs: number;
  /** Calls `wake` when this process has appended to the topic; returns what ends that. */
  onAppended(topic: string, wake: () => void): () => void;
}

const drainTimeoutMs = 10_000;
const leaveTimeoutMs = 3000;
const errorPauseMs = 250;

/** Joins the group: heartbeats for membership and leases, looks for new records, and reads the partitions it holds. */
export function consumeFromPostgres(deps: PostgresConsumerDeps, consume: ConsumeOptions): LogConsumer {
  const { database, logger, leaseMs } = deps;
  const { topic, group } = consume;
  const member: Member = { topic, group, memberId: uuidv7() };
  const whenFree = limitConcurrency(consume.partitionConcurrency);
  const truncation = createTruncation({ ...deps, consume });
  const held = new Map<number, LeasedPartition>();
  const ending = new Map<number, Promise<void>>();
  const stopping = new AbortController();
  const startedAt = performance.now();
  let seen: GroupState = { ends: new Map(), logs: new Map(), members: '' };
  let lastHeartbeatAt = Number.NEGATIVE_INFINITY;
  let isSatisfied = false;
  let wakeUp: AbortController = new AbortController();
  let stopped: Promise<void> | undefined;
  let announceJoined: () => void = () => {};
  const ready = new Promise<void>((resolve) => {
    announceJoined = resolve;
  });

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await look();
      } catch (error) {
        logger.debug('a member could not look at the log', { topic, group, error });
        dropWhenExpired();
        await sleep(errorPauseMs, stopping.signal);
      }
      await sleep(deps.pollIntervalMs, wakeUp.signal);
      if (wakeUp.signal.aborted) wakeUp = new AbortController();
    }
  }

  async function look(): Promise<void> {
    const now = await bounded(readGroupState(database.sql, member));
    const membersChanged = now.members !== seen.members;
    seen = now;
    if (membersChanged || !isSatisfied || performance.now() - lastHeartbeatAt > leaseMs / 3) await renew();
    for (const partition of held.values()) partition.wake();
  }

  async function renew(): Promise<void> {
    const beganAt = performance.now();
    const state = await bounded(database.transaction((tx) => heartbeat(tx, member, leaseMs)));
    lastHeartbeatAt = beganAt;
    apply(state);
  }

  function apply({ share, held: leased }: MembershipState): void {
    for (const partition of [...held.keys()]) if (!leased.includes(partition)) void end(partition);
    // The highest numbers are given back first, so that the members do not pass partitions around.
    const surplus = leased.slice(share);
    for (const partition of surplus) void giveUp(partition);
    for (const partition of leased.slice(0, share)) begin(partition);
    isSatisfied = held.size === share && surplus.length === 0;
    if (isSatisfied || performance.now() - startedAt > leaseMs) announceJoined();
  }

  function begin(partition: number): void {
    if (held.has(partition) || ending.has(partition) || stopping.signal.aborted) return;
    logger.debug('took a partition', { topic, group, partition });
    held.set(
      partition,
      readLeasedPartition({
        ...deps,
        consume,
        partition,
        whenFree,
        truncation,
        endOffset: () => seen.ends.get(partition) ?? 0n,
        log: () => seen.logs.get(partition),
      }),
    );
  }

  /** Stops reading; resolves when the batch in hand is over. Until then the partition is not begun anew. */
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
      logger.debug('gave up a partition', { topic, group, partition });
    } catch (error) {
      // The next heartbeat finds the lease still there and does this again.
      logger.debug('a lease could not be given back', { topic, group, partition, error });
    }
  }

  /**
   * Other members have taken our partitions by now. They would find our writes stale, so there is no use in making
   * them.
   */
  function dropWhenExpired(): void {
    if (held.size === 0 || performance.now() - lastHeartbeatAt < leaseMs) return;
    logger.warn('a member lost its partitions because the database does not answer', { topic, group });
    for (const partition of [...held.keys()]) void end(partition);
    isSatisfied = false;
  }

  function bounded<T>(work: Promise<T>): Promise<T> {
    return withDeadline(work, leaseMs, 'looking at the log');
  }

  function wake(): void {
    wakeUp.abort();
  }

  async function leave(): Promise<void> {
    stopping.abort();
    announceJoined();
    wake();
    forgetAppends();
    const batches = Promise.all([...held.keys(), ...ending.keys()].map(end));
    await withDeadline(batches, drainTimeoutMs, 'ending the batches in hand').catch((error) => {
      logger.warn('a batch did not end in time', { topic, group, error });
    });
    await withDeadline(running, leaveTimeoutMs, 'ending').catch(() => {});
    await withDeadline(leaveGroup(database.sql, member), leaveTimeoutMs, 'leaving').catch((error) => {
      logger.debug('a member could not say good-bye; its leases expire', { topic, group, error });
    });
  }

  const forgetAppends = deps.onAppended(topic, wake);
  const running = run();
  logger.info('joined a consumer group', { topic, group, memberId: member.memberId });
  return {
    ready,
    stop() {
      stopped ??= leave();
      return stopped;
    },
  };
}
