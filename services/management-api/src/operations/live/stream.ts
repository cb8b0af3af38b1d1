// One stream: what its client is sent, and what happens when the client does not read.

import type { Writable } from 'node:stream';
import type { StreamFilter } from './filters.ts';
import type { LiveEvent, Watcher } from './source.ts';

export interface StreamTimes {
  /** A comment comes after so much silence, and at the beginning. */
  heartbeatMs: number;
  /** A client that reads nothing for so long is left. */
  stalledMs: number;
  /** A stream ends after so long. */
  longestMs: number;
  /** What looking through the events may take of each second for one stream; the rest is left out. */
  filterMsPerSecond: number;
}

export interface StreamOptions {
  output: Writable;
  filter: StreamFilter;
  /** What was dropped is told too. */
  showsDrops: boolean;
  /** Notices are comments, for clients that take every message for an event. */
  isPlain: boolean;
  times: StreamTimes;
  /** Seconds that what is stored is behind; null when it is not known. */
  lagSeconds(): number | null;
  missed(count: number): void;
}

/** What may wait for a client that reads slowly. */
const maxBufferedBytes = 256 * 1024;
/** Further events of a second are left out, and the share that is shown is told. */
const messagesPerSecond = 20;
/**
 * Of a stream that shows a share, what comes within so long goes out together: most of what a message costs is the call to
 * the system, and four in one cost a third of four. Each stream has a time of its own between the two, so that not all send
 * in the same moment.
 */
const holdMs = { least: 150, most: 350 };

export interface LiveStream extends Watcher {
  /** To be called about every second. */
  tick(): void;
  end(reason: string, retryMs?: number): void;
}

export function createStream({ output, filter, showsDrops, isPlain, times, ...options }: StreamOptions): LiveStream {
  const beganAt = Date.now();
  const ownHoldMs = holdMs.least + Math.random() * (holdMs.most - holdMs.least);
  const sampling = createSampling({ ...filter, ...times }, (share) => {
    if (share < 1) hold();
    notice('share', { share });
  });
  let sentAt = 0;
  let takenAt = beganAt;
  let missed = 0;
  let isInTrouble = false;
  let isHeld = false;

  const noteTaken = () => {
    takenAt = Date.now();
  };

  function send(content: string | Buffer): void {
    if (output.writableEnded || output.destroyed) return;
    sentAt = Date.now();
    if (output.writableLength === 0) takenAt = sentAt;
    output.write(content, noteTaken);
  }

  function hold(): void {
    if (isHeld) return;
    isHeld = true;
    output.cork();
    setTimeout(() => {
      isHeld = false;
      output.uncork();
    }, ownHoldMs).unref();
  }

  function notice(name: string, content: Record<string, unknown>): void {
    const text = JSON.stringify(content);
    send(isPlain ? `: ${name} ${text}\n\n` : `event: ${name}\ndata: ${text}\n\n`);
  }

  function tellMissed(): void {
    if (missed > 0) notice('gap', { missed });
    missed = 0;
  }

  function beat(): void {
    const lag = options.lagSeconds();
    send(lag === null ? ': lag unknown\n\n' : `: lag ${lag}s\n\n`);
  }

  function end(reason: string, retryMs?: number): void {
    if (retryMs !== undefined) send(`retry: ${retryMs}\n\n`);
    notice('bye', { reason });
    output.end();
  }

  return {
    onEvent(event) {
      if (event.isDrop && !showsDrops) return;
      sampling.turn();
      if (!sampling.takes(event)) return;
      if (output.writableLength > maxBufferedBytes) {
        missed += 1;
        options.missed(1);
        return;
      }
      tellMissed();
      if (sampling.showsShare()) hold();
      send(filter.columns === null ? event.frame() : `data: ${cut(event, filter.columns)}\n\n`);
    },
    onTrouble(detail) {
      if (detail === null && isInTrouble) beat();
      if (detail !== null && !isInTrouble) notice('trouble', { detail });
      isInTrouble = detail !== null;
    },
    tick() {
      const now = Date.now();
      sampling.turn();
      const isWaiting = output.writableLength > 0;
      if (isWaiting && now - takenAt > times.stalledMs) output.destroy();
      else if (now - beganAt > times.longestMs)
        end('The stream has reached its maximum duration of 30 minutes. Open a new stream.');
      if (isWaiting) return;
      tellMissed();
      if (now - sentAt >= times.heartbeatMs) beat();
    },
    end,
  };
}

/** The message with some properties; those that are not there are left out. */
function cut(event: LiveEvent, columns: string[]): string {
  const { properties } = event;
  const shown = columns.flatMap((name) => (Object.hasOwn(properties, name) ? [[name, properties[name]]] : []));
  return JSON.stringify(event.toMessage(Object.fromEntries(shown)));
}

/** Shows no more events in a second than a person can follow, and tells which share of them that is. */
function createSampling(
  { passes, filterMsPerSecond }: Pick<StreamFilter & StreamTimes, 'passes' | 'filterMsPerSecond'>,
  tellShare: (share: number) => void,
) {
  // The seconds of all streams do not begin in the same moment.
  const offsetMs = Math.random() * 1000;
  let second = { at: 0, shown: 0, left: 0, filterMs: 0 };
  /** Of the second before. */
  let share = 1;
  return {
    showsShare: () => share < 1,
    /** Whether the event passes and is shown. */
    takes(event: LiveEvent): boolean {
      if (second.filterMs > filterMsPerSecond) {
        second.left += 1;
        return false;
      }
      const startedAt = performance.now();
      const isWanted = passes(event);
      second.filterMs += performance.now() - startedAt;
      if (!isWanted) return false;
      // Spread over the second as the last one was, so that not only its beginning is seen.
      const isShown = second.shown < messagesPerSecond && (event.isDrop || share === 1 || Math.random() < share);
      if (isShown) second.shown += 1;
      else second.left += 1;
      return isShown;
    },
    /** Begins another second when it is time, and tells the share of the last one. */
    turn(): void {
      const at = Math.floor((Date.now() + offsetMs) / 1000);
      if (at === second.at) return;
      const { shown, left } = second;
      const before = share;
      share = left === 0 ? 1 : Math.max(0.001, shown / (shown + left));
      second = { at, shown: 0, left: 0, filterMs: 0 };
      if (share < 1 || before < 1) tellShare(Number(share.toPrecision(2)));
    },
  };
}
