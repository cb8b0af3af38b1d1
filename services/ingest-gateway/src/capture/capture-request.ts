import type { IncomingMessage } from 'node:http';
import type { ProjectKeys } from '../access/project-keys.ts';
import type { Answer, Refusal } from '../answer/send-answer.ts';
import type { ByteLease } from '../body/byte-budget.ts';
import type { Uploads } from '../body/uploads.ts';
import type { CaptureLimits } from '../config.ts';
import { readScannedEvent, slotsPerEvent } from '../json/event-fields.ts';
import type { CaptureThreads, ScannedEvents } from './body-jobs.ts';
import type { CaptureMetrics } from './capture-metrics.ts';
import type { ClientEvent } from './client-event.ts';
import type { DropTally } from './drops.ts';

/** A capture request whose events have been read, in the same form for all protocols. */
export interface CaptureRequest {
  /** A well-formed project API key. */
  token: string;
  isHistorical: boolean;
  /** When the client sent the request by its own clock, in milliseconds since the epoch. Null if unknown. */
  sentAtMs: number | null;
  /** The request's `sent_at`, if it cannot be parsed and no other time was sent. */
  unreadableSentAt?: string | undefined;
  /** How many events the client sent, including invalid ones. */
  eventCount: number;
  /** The valid events in their order, in at least one slice. Other requests are served between the slices. */
  slices(): Iterable<EventSlice>;
  /** The index of each valid event in the request. Undefined if all events are valid. */
  indexes?: ArrayLike<number> | undefined;
  /** Counts the events that are dropped, with samples. Already contains the invalid events. */
  dropped: DropTally;
  /** Names of the parts of a multipart request that are not stored. */
  omittedParts?: readonly string[] | undefined;
  /** Whether the client resends events after 429. All clients resend after 503. */
  retriesOn429: boolean;
  /** @param outcome `accepted`: all events that were not dropped are in the log. `quota_limited`: no event is. */
  respond(outcome: 'accepted' | 'quota_limited'): Promise<Answer>;
}

/** Consecutive events of a request. */
export interface EventSlice {
  events: readonly ClientEvent[];
  /** Number of the first event among the valid events of the request. */
  first: number;
}

/** Reads and answers the requests of one protocol. */
export interface CaptureReader {
  /** Name of the path in metrics and logs. */
  path: string;
  /** The name for events without a name. Null if such events are dropped (docs/wire-rules.md#dropped-events). */
  nameForNameless: string | null;
  /** Maximum size of a log record. */
  maxRecordBytes: number;
  /** Whether an event that is too large rejects the request. Otherwise it is dropped, unless it is the only event. */
  refusesLargeEvents: boolean;
  /**
   * Receives and reads a request. Large bodies are read in another thread.
   * @throws AppError if the request is rejected.
   */
  read(request: IncomingMessage, lease: ByteLease): Promise<CaptureRequest>;
  toRefusal(error: unknown): Refusal;
}

export interface ReaderDependencies {
  limits: CaptureLimits;
  uploads: Uploads;
  largeBodies: Pick<CaptureThreads, 'read'>;
  projectKeys: ProjectKeys;
  metrics: CaptureMetrics;
}

/** Processing this many events takes a few milliseconds. */
const eventsPerSlice = 128;

/** @param events parsed events, in one slice, or the events that a thread has found, in slices of `eventsPerSlice`. */
export function slicesOf(events: readonly ClientEvent[] | ScannedEvents): Iterable<EventSlice> {
  return 'json' in events ? scannedSlices(events) : [{ events, first: 0 }];
}

/** Reads the events of each slice when it is reached. There is at least one slice, which may be empty. */
function* scannedSlices({ json, slots, length }: ScannedEvents): Iterable<EventSlice> {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length);
  for (let first = 0; first === 0 || first < length; first += eventsPerSlice) {
    const events: ClientEvent[] = [];
    for (let number = first; number < Math.min(first + eventsPerSlice, length); number++) {
      // The thread has validated it.
      events.push(readScannedEvent(bytes, slots, number * slotsPerEvent) as ClientEvent);
    }
    yield { events, first };
  }
}
