import type { ErrorKind } from '@millrace/runtime';
import type { ThreadShares } from '../body/byte-budget.ts';
import type { BodyHints } from '../body/decode.ts';
import type { RequestHints } from '../readers/classic.ts';
import type { PartsBody } from '../readers/parts.ts';
import type { ValidatedBatch } from '../readers/v1-batch.ts';
import type { V1Body, V1Head } from '../readers/v1-request.ts';
import type { EventDrop } from '../readers/validate.ts';

/** What a body thread is told when it starts. */
export interface ThreadStart {
  shares: ThreadShares;
  /** Its number in the shares, from 1. */
  thread: number;
}

/** A body to decode and search. Its bytes are transferred to the thread. */
export type BodyJob = CaptureJob | PartsJob | V1Job;

export interface CaptureJob {
  type: 'capture';
  raw: Uint8Array;
  hints: BodyHints;
  request: RequestHints;
  maxDecompressedBytes: number;
}

/** An event in parts. */
export interface PartsJob extends Omit<PartsBody, 'raw'> {
  type: 'parts';
  raw: Uint8Array;
  request: RequestHints;
  maxDecompressedBytes: number;
  maxRecordBytes: number;
}

/** One of Capture v1. The API key is already verified. */
export interface V1Job extends Omit<V1Body, 'raw'> {
  type: 'v1';
  raw: Uint8Array;
  sdk: V1Head['sdk'];
  maxDecompressedBytes: number;
}

/** The answer to `key`. When no project has the key, the job is over. */
export interface KeyCheck {
  type: 'key_check';
  isPossible: boolean;
}

/** A request as a thread found it: its JSON, and the positions of everything in it (scan.ts). */
export interface FoundRequest {
  kind: 'capture';
  json: Uint8Array;
  slots: Int32Array<ArrayBuffer>;
  /** How many can be used. */
  events: number;
  indexes?: Int32Array<ArrayBuffer> | undefined;
  drops?: readonly EventDrop[];
  token: string;
  isHistorical: boolean;
  sentAtMs: number | null;
  unreadableSentAt?: string | undefined;
  /** For an event in parts: names of the parts that are not stored. */
  leftOut?: string[];
}

/** A batch of Capture v1 as a thread found it; `json` is a batch of the events that go on. */
export interface FoundV1 extends Omit<ValidatedBatch, 'events' | 'uuids'> {
  kind: 'v1';
  json: Uint8Array;
  slots: Int32Array<ArrayBuffer>;
  /** How many go on. */
  events: number;
  /** Separated by commas: one text is transferred in one step. */
  uuids: string;
}

export type Found = FoundRequest | FoundV1;

export type ThreadMessage =
  /** A key was found before parsing; the thread waits for the answer. */
  | { type: 'key'; key: string }
  | { type: 'found'; request: Found }
  | { type: 'refused'; refusal: Refusal }
  | { type: 'failed'; message: string };

/** An AppError as it is sent between threads. */
export interface Refusal {
  kind: ErrorKind;
  message: string;
  code: string;
  attr: string | null;
  retryAfterSeconds: number | undefined;
}

const copiedBelowBytes = 64 * 1024;

/** The same bytes in memory that can be transferred: small buffers share theirs with others. */
export function toTransferable(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  const isOwn = bytes.length >= copiedBelowBytes && buffer instanceof ArrayBuffer;
  return isOwn ? new Uint8Array(buffer, bytes.byteOffset, bytes.length) : new Uint8Array(bytes);
}
