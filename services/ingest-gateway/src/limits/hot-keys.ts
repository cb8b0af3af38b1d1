import { createHash } from 'node:crypto';
import type { KeyValue } from '@millrace/cache';
import { recordKey } from '@millrace/contracts';
import { LRUCache } from 'lru-cache';
import { createHotKeyTable } from './hot-key-table.ts';
import type { KeySketch, SketchPrefix } from './key-sketch.ts';
import type { SharedCounters } from './shared-counters.ts';
import type { TrafficSpike } from './traffic-spike.ts';

export interface HotKeysOptions {
  counters: SharedCounters;
  channel: Pick<KeyValue, 'publish' | 'subscribe'>;
  sketch: KeySketch;
  now(): number;
  windowMs: number;
  /** Live events in a window that make a key hot; 0: no key ever is. */
  hotEvents: number;
  /** A key stays hot for this time after its last hot window, so that it does not switch back and forth. */
  holdMs: number;
}

export interface HotKeys {
  /**
   * Counts the live events of one request.
   * @param ids what, with the token, makes the key of each event.
   * @returns the spikes of the keys that these events made hot, with their ids; nearly always none.
   */
  note(token: string, ids: Iterable<string>): { id: string; spike: TrafficSpike }[];
  isHot(key: string): boolean;
  /** False nearly always: then no single event has to be checked. */
  hasAny(): boolean;
  size(): number;
}

/** Counted exactly because there were many of it. */
interface Candidate {
  counter: string;
  wasHotNow: boolean;
}

/**
 * From this part of `hotEvents` on a key is counted exactly and together with the other gateways: up to ten gateways
 * may share the events of a hot key.
 */
const candidateFrom = 0.1;
const maxCandidates = 10_000;
const none: { id: string; spike: TrafficSpike }[] = [];

/**
 * Finds keys (`token:distinct_id`) that send so much that they would delay the partition they are in
 * (docs/wire-rules.md#lanes). All keys go through a sketch of fixed size; only the few with many events are remembered
 * by name and counted in the store. All gateways learn of a hot key, and until when, at the same time, so that its
 * events are in one lane whichever gateway takes them.
 */
export async function createHotKeys(options: HotKeysOptions): Promise<HotKeys> {
  const { counters, sketch, now, windowMs, hotEvents } = options;
  const hot = createHotKeyTable(options);
  const candidates = new LRUCache<string, Candidate>({ max: maxCandidates });
  const candidateEvents = Math.max(1, Math.floor(hotEvents * candidateFrom));
  let window = 0;
  /** For the last token: the next request mostly has the same. */
  let last = { token: '', prefix: sketch.prefix(':') };

  function prefixOf(token: string): SketchPrefix {
    if (token !== last.token) last = { token, prefix: sketch.prefix(`${token}:`) };
    return last.prefix;
  }

  function enterWindow(current: number): void {
    window = current;
    sketch.clear();
    candidates.clear();
    hot.repeat();
  }

  function countExactly(key: string, estimate: number): TrafficSpike | null {
    let candidate = candidates.get(key);
    const by = candidate === undefined ? estimate : 1;
    if (candidate === undefined) {
      candidate = { counter: `burst:${digestOf(key)}:${window}`, wasHotNow: false };
      candidates.set(key, candidate);
    }
    const events = counters.add(candidate.counter, by, (window + 2) * windowMs);
    if (events < hotEvents || candidate.wasHotNow) return null;
    candidate.wasHotNow = true;
    if (!hot.add(key)) return null;
    return { events, windowSeconds: windowMs / 1000, baselineEvents: 0, thresholdEvents: hotEvents, window };
  }

  if (hotEvents > 0) await hot.listen();
  return {
    isHot: hot.has,
    hasAny: hot.hasAny,
    size: hot.size,
    note(token, ids) {
      if (hotEvents === 0) return none;
      const current = Math.floor(now() / windowMs);
      if (current !== window) enterWindow(current);
      const prefix = prefixOf(token);
      let spikes = none;
      for (const id of ids) {
        const estimate = sketch.add(prefix, id);
        const spike = estimate < candidateEvents ? null : countExactly(recordKey('live', token, id), estimate);
        if (spike !== null) spikes = [...spikes, { id, spike }];
      }
      return spikes;
    },
  };
}

/** Distinct ids may be e-mail addresses, so the counter is named by a digest. */
function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 22);
}
