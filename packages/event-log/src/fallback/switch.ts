import type { SqlDatabase } from '@millrace/db/sql';
import { type Logger, sleep, withDeadline } from '@millrace/runtime';
import { v7 as uuidv7 } from 'uuid';
import {
  changePhase,
  type FallbackPhase,
  type FallbackView,
  lockFallback,
  nextPhase,
  readFallback,
  removeAppender,
  reportAppender,
} from './store.ts';

export interface FallbackSwitchDeps {
  topic: string;
  database: Pick<SqlDatabase, 'transaction'>;
  logger: Logger;
  /** Done once before the first heartbeat; repeated until it works. */
  prepare(): Promise<void>;
  reachesKafka(): boolean;
  /** How long this process has been unable to append to Kafka; 0 when it is able. */
  kafkaOutageMs(): number;
  /** Nothing that was appended to Kafka is undecided. */
  isSettled(): boolean;
  openAfterMs: number;
  changed(phase: FallbackPhase): void;
}

const heartbeatIntervalMs = 400;
/** While all wait for the phase to change. */
const changingIntervalMs = 50;
/** An appender that is silent for this long is not waited for. */
const leaseMs = 3000;
const heartbeatTimeoutMs = 2000;

/**
 * Follows the phase for this process, reports this process's state to the others, and changes the phase when it is
 * time.
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
        // A process that cannot ask continues as before: with PostgreSQL away there is no fallback anyway.
        logger.debug('could not determine which log to append to', { error });
      }
      await sleep(
        phase === 'opening' || phase === 'closing' ? changingIntervalMs : heartbeatIntervalMs,
        checkNow.signal,
      );
      if (checkNow.signal.aborted) checkNow = new AbortController();
    }
  }

  function follow(seen: FallbackView): void {
    if (seen.phase !== phase) {
      const from = phase;
      phase = seen.phase;
      const isReportable = seen.phase !== 'closed' || from !== 'unknown';
      if (isReportable)
        logger.warn('switching to another event log', { topic, from, to: phase, epoch: String(seen.epoch) });
      deps.changed(phase);
      for (const wake of [...waiting]) wake();
    }
    // Nothing new is appended to Kafka in this phase, so what is settled now stays settled.
    if (phase !== 'closed' && deps.isSettled()) settledEpoch = seen.epoch;
  }

  const running = run();
  return {
    phase: () => phase,
    /** Resolves when the phase changes, after `timeoutMs`, or when whoever waits no longer needs to know. */
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
    /** Asks at once. */
    checkNow: () => checkNow.abort(),
    /** Only once nothing is appended any more. */
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

/** Tells the others how this process stands, and changes the phase when its turn has come. @returns what holds now. */
function heartbeat(
  deps: FallbackSwitchDeps,
  { appenderId, settledEpoch }: { appenderId: string; settledEpoch: bigint },
): Promise<FallbackView> {
  const { topic, database } = deps;
  return database.transaction(async (tx) => {
    const reachesKafka = deps.reachesKafka();
    await reportAppender(tx, { topic, appenderId, reachesKafka, settledEpoch, leaseMs });
    let view = await readFallback(tx, topic);
    let to = nextPhase(view, deps.kafkaOutageMs() >= deps.openAfterMs);
    if (to === 'closed' && view.phase === 'closing') {
      // An append may have been committed since. Only with this lock the backlog is complete.
      await lockFallback(tx, topic);
      view = await readFallback(tx, topic);
      to = nextPhase(view, false);
    }
    if (to === view.phase) return view;
    await changePhase(tx, topic, view, to);
    return readFallback(tx, topic);
  });
}
