import { createHash } from 'node:crypto';
import { recordKey } from '@millrace/contracts';
import type { KeyValue } from '@millrace/runtime/cache';
import { LRUCache } from 'lru-cache';
import type { SharedCounters } from './shared-counters.ts';
import type { TrafficSpike } from './spikes.ts';

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
 * From this share of `hotEvents` on a key is counted exactly and together with the other gateways: up to ten gateways
 * may share the events of a hot key.
 */
const candidateFrom = 0.1;
const maxCandidates = 10_000;
const none: { id: string; spike: TrafficSpike }[] = [];

/**
 * Finds keys (`token:distinct_id`) that send so much that they would delay the partition they are in
 * (docs/wire-rules.md#topics). All keys go through a sketch of fixed size; only the few with many events are remembered
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

/** Which keys are hot and until when, the same in all gateways. */
interface HotKeyTable {
  has(key: string): boolean;
  hasAny(): boolean;
  /** From now on for `holdMs`, here and elsewhere. @returns false when it was hot already. */
  add(key: string): boolean;
  /** Tells the others once more, for those that have started since or missed it. */
  repeat(): void;
  /** Begins to hear what others find. */
  listen(): Promise<void>;
  size(): number;
}

/** Channel of the key-value store on which gateways tell each other which keys are hot. */
const hotKeyChannel = 'hot-keys';
const maxHotKeys = 10_000;
const maxAnnounced = 1000;

function createHotKeyTable({
  channel,
  now,
  holdMs,
}: {
  channel: Pick<KeyValue, 'publish' | 'subscribe'>;
  now(): number;
  holdMs: number;
}): HotKeyTable {
  /** Until when, milliseconds since the epoch. */
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

/** What is not a list of keys and times is nothing. */
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

/** The hash of what all texts of one request begin with, so that it is computed once. */
type SketchPrefix = number;

/** An estimate of how often each text was seen, in memory of fixed size. */
interface KeySketch {
  prefix(text: string): SketchPrefix;
  /**
   * Counts the text `prefix + text` once.
   * @returns how often it was seen since `clear`: the true number, or a little more, never less.
   */
  add(prefix: SketchPrefix, text: string): number;
  clear(): void;
}

const rows = 4;
const fnvPrime = 0x01000193;

/**
 * A count-min sketch with conservative update. It finds the few keys that are worth counting exactly among any number
 * of others, without remembering one of them. Nobody can choose texts that collide, because the seed is random.
 *
 * @param width counters per row, a power of two. With n texts counted an estimate is too high by about n / width.
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

/** Spreads what the last characters changed over all bits. */
function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
