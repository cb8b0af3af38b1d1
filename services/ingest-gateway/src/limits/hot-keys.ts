// Finds distinct IDs with so many events that they would delay all others, and sends their events to the overflow
// topic.

import { createHash } from 'node:crypto';
import { computeRecordKey } from '@millrace/contracts';
import type { KeyValueStore } from '@millrace/runtime/cache';
import { LRUCache } from 'lru-cache';
import type { SharedCounters } from './shared-counters.ts';
import type { TrafficSpike } from './spikes.ts';

export interface HotKeysOptions {
  counters: SharedCounters;
  channel: Pick<KeyValueStore, 'publish' | 'subscribe'>;
  sketch: KeySketch;
  now(): number;
  windowMs: number;
  /** The number of live events per window that makes a key hot. 0 disables hot key detection. */
  hotEvents: number;
  /** How long a key stays hot after its last hot window, so that it does not switch back and forth. */
  holdMs: number;
}

export interface HotKeys {
  /**
   * Counts a request's live events.
   * @param ids the key of each event, without the token
   * @returns the keys that these events have made hot
   */
  note(token: string, ids: Iterable<string>): { id: string; spike: TrafficSpike }[];
  isHot(key: string): boolean;
  /** Returns true if any key is hot. Usually none is, so events need no check. */
  hasAny(): boolean;
  size(): number;
}

/** A frequent key, whose events are counted exactly. */
interface Candidate {
  counter: string;
  wasHotNow: boolean;
}

/**
 * A key with more than this share of `hotEvents` is counted exactly, in a counter that all gateways share. A hot key is
 * therefore detected even if ten gateways receive equal shares of its events.
 */
const candidateFrom = 0.1;
const maxCandidates = 10_000;
const none: { id: string; spike: TrafficSpike }[] = [];

/**
 * Finds keys (`token:distinct_id`) with so many events that they would delay their partition
 * (docs/wire-rules.md#topics). A sketch of fixed size counts all keys. Only frequent keys are stored by name and
 * counted in the key-value store. Hot keys are announced to all gateways, so that they all send a key's events to the
 * same topic.
 */
export async function createHotKeys(options: HotKeysOptions): Promise<HotKeys> {
  const { counters, sketch, now, windowMs, hotEvents } = options;
  const hot = createHotKeyTable(options);
  const candidates = new LRUCache<string, Candidate>({ max: maxCandidates });
  const candidateEvents = Math.max(1, Math.floor(hotEvents * candidateFrom));
  let window = 0;
  /** Consecutive requests often have the same token, so cache its hash. */
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
        const spike = estimate < candidateEvents ? null : countExactly(computeRecordKey('live', token, id), estimate);
        if (spike !== null) spikes = [...spikes, { id, spike }];
      }
      return spikes;
    },
  };
}

/** Returns a digest for the counter's name, because distinct IDs may be email addresses. */
function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 22);
}

interface HotKeyTable {
  has(key: string): boolean;
  hasAny(): boolean;
  /** Marks a key as hot for `holdMs` in all gateways. @returns false if it was already hot */
  add(key: string): boolean;
  /** Announces the hot keys again, for gateways that started later or missed an announcement. */
  repeat(): void;
  listen(): Promise<void>;
  size(): number;
}

const hotKeyChannel = 'hot-keys';
const maxHotKeys = 10_000;
const maxAnnounced = 1000;

function createHotKeyTable({
  channel,
  now,
  holdMs,
}: {
  channel: Pick<KeyValueStore, 'publish' | 'subscribe'>;
  now(): number;
  holdMs: number;
}): HotKeyTable {
  /** The expiry time of each hot key, in milliseconds since the epoch. */
  const hot = new LRUCache<string, number>({ max: maxHotKeys });

  const has = (key: string) => hot.size > 0 && (hot.get(key) ?? 0) > now();

  function announce(entries: [string, number][]): void {
    const current = entries.filter(([, untilMs]) => untilMs > now());
    if (current.length > 0) channel.publish(hotKeyChannel, JSON.stringify(current)).catch(() => {});
  }

  function onAnnouncement(message: string): void {
    for (const [key, untilMs] of parseAnnouncement(message)) {
      const latestMs = Math.min(untilMs, now() + holdMs);
      if (latestMs > (hot.peek(key) ?? 0)) hot.set(key, latestMs);
    }
  }

  return {
    has,
    hasAny: () => hot.size > 0,
    add(key) {
      const wasHot = has(key);
      const untilMs = now() + holdMs;
      hot.set(key, untilMs);
      announce([[key, untilMs]]);
      return !wasHot;
    },
    repeat: () => announce([...hot].slice(0, maxAnnounced)),
    listen: () => channel.subscribe(hotKeyChannel, onAnnouncement),
    size() {
      const nowMs = now();
      for (const [key, untilMs] of hot) if (untilMs <= nowMs) hot.delete(key);
      return hot.size;
    },
  };
}

/** Ignores malformed announcements. */
function parseAnnouncement(message: string): [string, number][] {
  try {
    const entries: unknown = JSON.parse(message);
    if (!Array.isArray(entries)) return [];
    return entries.filter(
      (entry): entry is [string, number] =>
        Array.isArray(entry) && typeof entry[0] === 'string' && typeof entry[1] === 'number',
    );
  } catch {
    return [];
  }
}

/** The hash of the prefix that all keys of a request share. It is computed only once. */
type SketchPrefix = number;

/** Estimates how often each key occurred, using a fixed amount of memory. */
interface KeySketch {
  prefix(text: string): SketchPrefix;
  /**
   * Counts the key `prefix + text` once.
   * @returns how often the key has occurred since `clear`: the exact number or slightly more, but never less
   */
  add(prefix: SketchPrefix, text: string): number;
  clear(): void;
}

const rows = 4;
const fnvPrime = 0x01000193;

/**
 * Creates a count-min sketch with conservative update. It finds the few keys that should be counted exactly, without
 * storing any key. Clients cannot choose keys that collide, because the seed is random.
 * @param width the number of counters per row, a power of two. After n keys, an estimate is too high by about n /
 * width.
 */
export function createKeySketch({ width = 65_536, seed = (Math.random() * 2 ** 32) >>> 0 } = {}): KeySketch {
  const counts = new Uint32Array(rows * width);
  const cells = new Uint32Array(rows);
  const mask = width - 1;

  function extend(hash: number, text: string): number {
    let extended = hash;
    for (let index = 0; index < text.length; index++) {
      extended = Math.imul(extended ^ text.charCodeAt(index), fnvPrime);
    }
    return extended;
  }

  return {
    prefix: (text) => extend(seed ^ 0x811c9dc5, text),
    add(prefix, text) {
      const hash = extend(prefix, text);
      const first = mix(hash);
      const step = mix(hash ^ 0x9e3779b9) | 1;
      let least = 0xffff_ffff;
      for (let row = 0; row < rows; row++) {
        const cell = row * width + ((first + Math.imul(row, step)) & mask);
        cells[row] = cell;
        const count = counts[cell] ?? 0;
        if (count < least) least = count;
      }
      const estimate = least + 1;
      for (let row = 0; row < rows; row++) {
        const cell = cells[row] ?? 0;
        if ((counts[cell] ?? 0) < estimate) counts[cell] = estimate;
      }
      return estimate;
    },
    clear: () => void counts.fill(0),
  };
}

/** Makes every bit of the hash depend on the last characters. */
function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
