/**
 * The phase of the Kafka fallback in one process. The database stores the phase, and `chooseNextPhase` in store.ts decides
 * when it changes:
 *
 * | Phase | Appends go to | Next phase | When |
 * |---|---|---|---|
 * | `closed` | Kafka | `opening` | a process has been without Kafka for `openAfterMs` |
 * | `opening` | (wait) | `open` | no live process has an append to Kafka in flight |
 * | `open` | PostgreSQL | `closing` | all live processes reach Kafka, and few records are left to copy |
 * | `closing` | (wait) | `closed` | all records are copied to Kafka |
 * | `closing` | (wait) | `open` | copying takes too long |
 */
import type { SqlDatabase } from '@millrace/db/sql';
import { type Logger, sleep, withDeadline } from '@millrace/runtime';
import { v7 as uuidv7 } from 'uuid';
import {
  changeFallbackPhase,
  chooseNextPhase,
  type FallbackPhase,
  type FallbackView,
  lockFallback,
  readFallback,
  removeAppender,
  storeAppenderHeartbeat,
} from './store.ts';

export interface FallbackSwitchDeps {
  topic: string;
  database: Pick<SqlDatabase, 'transaction'>;
  logger: Logger;
  /** Called before the first heartbeat, and retried until it succeeds. */
  prepare(): Promise<void>;
  reachesKafka(): boolean;
  /** Returns for how many milliseconds this process has been unable to append to Kafka, or 0 if it can. */
  kafkaOutageMs(): number;
  isSettled(): boolean;
  openAfterMs: number;
  changed(phase: FallbackPhase): void;
}

const heartbeatIntervalMs = 400;
/** The heartbeat interval during the phases `opening` and `closing`, in which all appends wait. */
const changingIntervalMs = 50;
/** If an appender's last heartbeat is older than this, other processes do not wait for the appender. */
const leaseMs = 3000;
const heartbeatTimeoutMs = 2000;

/**
 * Creates the switch, which sends heartbeats with this process's state, reads the current phase, and changes it if the
 * conditions are met.
 */
export function createFallbackSwitch(deps: FallbackSwitchDeps) {
  const { topic, database, logger } = deps;
  const appenderId = uuidv7();
  const stopping = new AbortController();
  const waiting = new Set<() => void>();
  let phase: FallbackPhase | 'unknown' = 'unknown';
  let settledEpoch = 0n;
  let checkNow = new AbortController();

  async function run(): Promise<void> {
    let isPrepared = false;
    while (!stopping.signal.aborted) {
      try {
        if (!isPrepared) await deps.prepare();
        isPrepared = true;
        const standing = { appenderId, settledEpoch };
        follow(await withDeadline(heartbeat(deps, standing), heartbeatTimeoutMs, 'determining which log to append to'));
      } catch (error) {
        // Without PostgreSQL, the process cannot switch to the fallback and remains in its current phase.
        logger.debug('could not determine which log to append to', { error });
      }
      await sleep(
        phase === 'opening' || phase === 'closing' ? changingIntervalMs : heartbeatIntervalMs,
        checkNow.signal,
      );
      if (checkNow.signal.aborted) checkNow = new AbortController();
    }
  }

  function follow(view: FallbackView): void {
    if (view.phase !== phase) {
      const from = phase;
      phase = view.phase;
      const isReportable = view.phase !== 'closed' || from !== 'unknown';
      if (isReportable)
        logger.warn('switching to another event log', { topic, from, to: phase, epoch: String(view.epoch) });
      deps.changed(phase);
      for (const wake of [...waiting]) wake();
    }
    // No new append to Kafka starts in these phases, so once none is in flight, none will be until the next phase.
    if (phase !== 'closed' && deps.isSettled()) settledEpoch = view.epoch;
  }

  const running = run();
  return {
    phase: () => phase,
    /** Resolves when the phase changes, after `timeoutMs`, or when `over` aborts. */
    nextChange(timeoutMs: number, over?: AbortSignal): Promise<void> {
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          waiting.delete(done);
          over?.removeEventListener('abort', done);
          resolve();
        };
        const timer = setTimeout(done, timeoutMs);
        waiting.add(done);
        over?.addEventListener('abort', done);
      });
    },
    checkNow: () => checkNow.abort(),
    /** Stops sending heartbeats. Call it only after the last append has settled. */
    async stop(): Promise<void> {
      stopping.abort();
      checkNow.abort();
      await running;
      await database
        .transaction((tx) => removeAppender(tx, topic, appenderId))
        .catch((error) => logger.debug('could not deregister this gateway from the fallback log', { error }));
    },
  };
}

export type FallbackSwitch = ReturnType<typeof createFallbackSwitch>;

/**
 * Stores the state of this process, and changes the phase if the conditions are met.
 * @returns the current state of the fallback
 */
function heartbeat(
  deps: FallbackSwitchDeps,
  { appenderId, settledEpoch }: { appenderId: string; settledEpoch: bigint },
): Promise<FallbackView> {
  const { topic, database } = deps;
  return database.transaction(async (tx) => {
    const reachesKafka = deps.reachesKafka();
    await storeAppenderHeartbeat(tx, { topic, appenderId, reachesKafka, settledEpoch, leaseMs });
    let view = await readFallback(tx, topic);
    let to = chooseNextPhase(view, deps.kafkaOutageMs() >= deps.openAfterMs);
    if (to === 'closed' && view.phase === 'closing') {
      // An append may have been committed since the view was read. The backlog is reliable only while the lock is held.
      await lockFallback(tx, topic);
      view = await readFallback(tx, topic);
      to = chooseNextPhase(view, false);
    }
    if (to === view.phase) return view;
    await changeFallbackPhase(tx, topic, view, to);
    return readFallback(tx, topic);
  });
}
