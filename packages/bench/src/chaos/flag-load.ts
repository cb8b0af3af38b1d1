import { setTimeout as sleep } from 'node:timers/promises';
import type { SeenFlag } from './flag-history.ts';
import { knownPerson } from './flag-project.ts';

/** One answer, or that there was none. */
export interface FlagAnswer extends SeenFlag {
  /** 0 when the connection broke or nothing came in time. */
  status: number;
  verdict: FlagVerdict;
}

/**
 * `right`: every flag is. `failed`: flags that need what is stored are marked as failed, the others are right. `empty`: an
 * answer without flags, which makes SDKs forget what they knew.
 */
export type FlagVerdict = 'right' | 'failed' | 'refused' | 'empty' | 'wrong';

export interface FlagLoad {
  answers: readonly FlagAnswer[];
  /** By asker: when it last asked what was answered right. */
  lastRightAt: readonly number[];
  stop(): Promise<void>;
}

const askers = 8;
const pauseMs = 20;
const answerWithinMs = 10_000;

interface Flag {
  enabled: boolean;
  failed?: boolean;
  metadata: { version: number };
}

/** Asks for flags again and again, of each gateway in turn, and judges each answer by itself. */
export function startFlagLoad(ports: readonly number[], projectApiKey: string): FlagLoad {
  const answers: FlagAnswer[] = [];
  const lastRightAt: number[] = new Array(askers).fill(0);
  let isRunning = true;
  /** Which half somebody is in does not change. */
  let kept: boolean | null = null;

  function judge(flags: Record<string, Flag>, hasErrors: boolean): FlagVerdict {
    if (Object.keys(flags).length === 0) return 'empty';
    const { plain, stored, kept: half } = flags;
    if (plain?.enabled !== true || stored === undefined || half === undefined) return 'wrong';
    const someFailed = Object.values(flags).some(({ failed }) => failed === true);
    if (hasErrors !== someFailed || (!stored.enabled && !stored.failed)) return 'wrong';
    if (!half.failed) {
      kept ??= half.enabled;
      if (kept !== half.enabled) return 'wrong';
    }
    return someFailed ? 'failed' : 'right';
  }

  async function ask(port: number): Promise<FlagAnswer> {
    const askedAt = performance.now();
    try {
      const response = await fetch(`http://127.0.0.1:${port}/flags?v=2`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
        body: JSON.stringify({ token: projectApiKey, distinct_id: knownPerson }),
        signal: AbortSignal.timeout(answerWithinMs),
      });
      const { status } = response;
      const body = (await response.json()) as { flags?: Record<string, Flag>; errorsWhileComputingFlags?: boolean };
      const flags = body.flags ?? {};
      const verdict = status === 200 ? judge(flags, body.errorsWhileComputingFlags === true) : 'refused';
      const version = flags.toggled?.metadata.version ?? null;
      return { askedAt, answeredAt: performance.now(), status, verdict, version };
    } catch {
      return { askedAt, answeredAt: performance.now(), status: 0, verdict: 'refused', version: null };
    }
  }

  const loops = Array.from({ length: askers }, async (_, asker) => {
    for (let number = asker; isRunning; number += 1) {
      const answer = await ask(ports[number % ports.length] ?? 0);
      answers.push(answer);
      if (answer.verdict === 'right') lastRightAt[asker] = answer.askedAt;
      await sleep(pauseMs);
    }
  });
  return {
    answers,
    lastRightAt,
    async stop() {
      isRunning = false;
      await Promise.all(loops);
    },
  };
}
