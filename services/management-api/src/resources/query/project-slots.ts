// So many questions of a project at once, in all processes together.

import { randomUUID } from 'node:crypto';
import { AppError, sleep } from '@millrace/runtime';
import type { KeyValue } from '@millrace/runtime/cache';
import { whenUnavailable } from './result-cache.ts';

const most = 3;
const patienceMs = 5000;
const pauseMs = 100;
const retryAfterSeconds = 2;

/**
 * Each slot is a key, which ends by itself should its process die. Without the store each process counts only its own connections.
 * @param longestMs more than what holds a slot takes
 */
export function createProjectSlots(keyValue: KeyValue, longestMs: number) {
  return {
    /**
     * Waits for a slot.
     * @returns what gives it back.
     * @throws AppError `rate_limited` when none was free in time; the reason of the signal.
     */
    async take(projectId: number, signal: AbortSignal): Promise<() => Promise<void>> {
      const owner = randomUUID();
      const giveUpAt = performance.now() + patienceMs;
      for (;;) {
        for (let slot = 1; slot <= most; slot += 1) {
          signal.throwIfAborted();
          const key = `query slot:${projectId}:${slot}`;
          const taken = await keyValue.setIfAbsent(key, owner, longestMs / 1000).catch(whenUnavailable(null));
          if (taken === null) return async () => {};
          if (taken) return async () => keyValue.delete(key).catch(whenUnavailable(undefined));
        }
        if (performance.now() > giveUpAt) throw tooMany();
        await sleep(pauseMs, signal);
      }
    },
  };
}

function tooMany(): AppError {
  const detail = `The project has ${most} queries under way, which is the most at a time. Wait for one of them to end.`;
  return new AppError('rate_limited', detail, { code: 'too_many_queries', retryAfterSeconds });
}
