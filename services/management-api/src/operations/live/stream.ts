// Sends a stream's messages to its client, and ends the stream if the client does not read them.

import type { Writable } from 'node:stream';
import type { StreamFilter } from './filters.ts';
import type { LiveEvent, Watcher } from './source.ts';

export interface StreamTimes {
  /** If no message was sent for this many milliseconds, a comment is sent. A comment is also sent at the start. */
  heartbeatMs: number;
  /** Milliseconds after which a client that does not read is disconnected. */
  stalledMs: number;
  /** Maximum duration of a stream in milliseconds. */
  longestMs: number;
  /**
   * Computing time in milliseconds that a stream's filter can use in each second. After that, events are skipped until
   * the next second.
   */
  filterMsPerSecond: number;
}

export interface StreamOptions {
  output: Writable;
  filter: StreamFilter;
  showsDrops: boolean;
  /** Whether notices are sent as comments, for clients that treat each message as an event. */
  isPlain: boolean;
  times: StreamTimes;
  /** Returns the delay of the stored events in seconds, or null if unknown. */
  lagSeconds(): number | null;
  missed(count: number): void;
}

/** Maximum size in bytes of unsent data for a slow client. */
const maxBufferedBytes = 256 * 1024;
/**
 * Maximum number of messages per second. Above this, events are skipped until the next second, and the stream reports
 * the share of events that it shows.
 */
const messagesPerSecond = 20;
/**
 * Milliseconds for which a stream that shows a sample collects messages, to send them together. Most of a message's
 * cost is the system call: one call for four messages costs a third of four calls. Each stream picks a random time in
 * this range, so that streams do not all send at the same time.
 */
const holdMs = { least: 150, most: 350 };

export interface LiveStream extends Watcher {
  /** Checks the limits and sends heartbeats. Must be called about once a second. */
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
  let readAt = beganAt;
  let missed = 0;
  let isInTrouble = false;
  let isHeld = false;

  const noteRead = () => {
    readAt = Date.now();
  };

  function send(content: string | Buffer): void {
    if (output.writableEnded || output.destroyed) return;
    sentAt = Date.now();
    if (output.writableLength === 0) readAt = sentAt;
    output.write(content, noteRead);
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

  function reportMissed(): void {
    if (missed > 0) notice('gap', { missed });
    missed = 0;
  }

  function sendHeartbeat(): void {
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
      sampling.advance();
      if (!sampling.takes(event)) return;
      if (output.writableLength > maxBufferedBytes) {
        missed += 1;
        options.missed(1);
        return;
      }
      reportMissed();
      if (sampling.showsShare()) hold();
      send(filter.columns === null ? event.frame() : `data: ${messageWithColumns(event, filter.columns)}\n\n`);
    },
    onTrouble(detail) {
      if (detail === null && isInTrouble) sendHeartbeat();
      if (detail !== null && !isInTrouble) notice('trouble', { detail });
      isInTrouble = detail !== null;
    },
    tick() {
      const now = Date.now();
      sampling.advance();
      const isWaiting = output.writableLength > 0;
      if (isWaiting && now - readAt > times.stalledMs) output.destroy();
      else if (now - beganAt > times.longestMs)
        end('The stream has reached its maximum duration of 30 minutes. Open a new stream.');
      if (isWaiting) return;
      reportMissed();
      if (now - sentAt >= times.heartbeatMs) sendHeartbeat();
    },
    end,
  };
}

function messageWithColumns(event: LiveEvent, columns: string[]): string {
  const { properties } = event;
  const shown = columns.flatMap((name) => (Object.hasOwn(properties, name) ? [[name, properties[name]]] : []));
  return JSON.stringify(event.toMessage(Object.fromEntries(shown)));
}

/** Limits the events per second to a number that people can follow, and reports the share of events that are shown. */
function createSampling(
  { passes, filterMsPerSecond }: Pick<StreamFilter & StreamTimes, 'passes' | 'filterMsPerSecond'>,
  reportShare: (share: number) => void,
) {
  // Limits apply to periods of one second. Each stream's periods start at a random offset, so that streams do not all
  // do their work at the same time.
  const offsetMs = Math.random() * 1000;
  let second = { at: 0, shown: 0, skipped: 0, filterMs: 0 };
  /** The share of the previous second's events that were shown. */
  let share = 1;
  return {
    showsShare: () => share < 1,
    /** Returns true if the event matches the filter and belongs to the sample that is shown. */
    takes(event: LiveEvent): boolean {
      if (second.filterMs > filterMsPerSecond) {
        second.skipped += 1;
        return false;
      }
      const startedAt = performance.now();
      const isWanted = passes(event);
      second.filterMs += performance.now() - startedAt;
      if (!isWanted) return false;
      // Apply the previous second's share, so that the shown events are spread over the entire second.
      const isShown = second.shown < messagesPerSecond && (event.isDrop || share === 1 || Math.random() < share);
      if (isShown) second.shown += 1;
      else second.skipped += 1;
      return isShown;
    },
    /** When a second has ended, starts the next one and reports the share of events that were shown. */
    advance(): void {
      const at = Math.floor((Date.now() + offsetMs) / 1000);
      if (at === second.at) return;
      const { shown, skipped } = second;
      const before = share;
      share = skipped === 0 ? 1 : Math.max(0.001, shown / (shown + skipped));
      second = { at, shown: 0, skipped: 0, filterMs: 0 };
      if (share < 1 || before < 1) reportShare(Number(share.toPrecision(2)));
    },
  };
}
