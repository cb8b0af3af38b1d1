import { type ProjectChanges, unsubscribedMaxAgeMs } from '@millrace/db/sql';
import { LRUCache } from 'lru-cache';
import { type KeyLookup, undetermined, unknown } from './key-lookup.ts';
import type { KnownProject } from './project-key-store.ts';

export interface KeyMemoryOptions {
  changes: Pick<ProjectChanges, 'isSubscribed'>;
  /** How long an answer is used without asking again, while changes are received. */
  knownForMs: number;
  unknownForMs: number;
  /** For this time after `knownForMs` an answer is still used while it is looked up again, so that nobody waits. */
  refreshInBackgroundForMs: number;
  /** How long it is remembered that no store could say. */
  undeterminedForMs: number;
  isDatabaseAway(): boolean;
  /** Looks a key up beside the request that has its answer already. */
  refresh(token: string): void;
}

/** What this process remembers of keys, and how long it may be used. */
export interface KeyMemory {
  /** The remembered answer, if it may still be used. When it is getting old it is looked up again in the background. */
  recall(token: string): KeyLookup | undefined;
  /** @param project null: there is no such key. Undefined: no store could say. */
  keep(token: string, project: KnownProject | null | undefined): void;
  /** What may be used while no store answers, however old. */
  bridge(token: string): KnownProject | undefined;
  forget(token: string): void;
  /** Answers from before this may be out of date. They only bridge an outage. */
  distrustAll(): void;
}

interface Remembered {
  project: KnownProject | null | undefined;
  lookedUpAtMs: number;
}

const maxRemembered = 100_000;
/** The same while changes are not received. A request with an old key is let in for at most this much longer. */
const refreshUnsubscribedMs = 4000;
/** How long an outage of the stores can be bridged from memory. */
const bridgeForMs = 12 * 60 * 60 * 1000;

export function createKeyMemory(options: KeyMemoryOptions): KeyMemory {
  const { changes, knownForMs, unknownForMs, refreshInBackgroundForMs, undeterminedForMs } = options;
  const memory = new LRUCache<string, Remembered>({ max: maxRemembered });
  let staleBeforeMs = Number.NEGATIVE_INFINITY;

  return {
    recall(token) {
      const remembered = memory.get(token);
      if (remembered === undefined) return undefined;
      const { project, lookedUpAtMs } = remembered;
      const ageMs = performance.now() - lookedUpAtMs;
      // During an outage not every request with this key may ask all stores again.
      if (project === undefined) return ageMs < undeterminedForMs ? undetermined : undefined;
      const isStale = lookedUpAtMs < staleBeforeMs;
      const longestMs = changes.isSubscribed() ? Number.POSITIVE_INFINITY : unsubscribedMaxAgeMs;
      if (project === null) return !isStale && ageMs < Math.min(unknownForMs, longestMs) ? unknown : undefined;
      const usedForMs = Math.min(knownForMs, longestMs);
      if (!isStale && ageMs < usedForMs) return { outcome: 'known', project };
      const refreshedForMs = changes.isSubscribed() ? refreshInBackgroundForMs : refreshUnsubscribedMs;
      if ((!isStale && ageMs < usedForMs + refreshedForMs) || (options.isDatabaseAway() && ageMs < bridgeForMs)) {
        options.refresh(token);
        return { outcome: 'known', project };
      }
      return undefined;
    },
    keep: (token, project) => void memory.set(token, { project, lookedUpAtMs: performance.now() }),
    bridge(token) {
      const remembered = memory.get(token);
      if (!remembered?.project || performance.now() - remembered.lookedUpAtMs > bridgeForMs) return undefined;
      return remembered.project;
    },
    forget: (token) => void memory.delete(token),
    distrustAll() {
      staleBeforeMs = performance.now();
    },
  };
}
