import type { KeyValue } from '@millrace/cache';
import { LRUCache } from 'lru-cache';

export interface HotKeyTableOptions {
  channel: Pick<KeyValue, 'publish' | 'subscribe'>;
  now(): number;
  holdMs: number;
}

/** Which keys are hot and until when, the same in all gateways. */
export interface HotKeyTable {
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

export function createHotKeyTable({ channel, now, holdMs }: HotKeyTableOptions): HotKeyTable {
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
