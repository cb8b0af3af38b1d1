import type { ErrorKind } from '@millrace/errors';
import type { BodyHints } from '../capture/decode-body.ts';
import type { RequestHints } from '../capture/parse-capture-request.ts';
import type { ThreadShares } from '../limits/byte-budget.ts';

/** What a body thread is told when it starts. */
export interface ThreadStart {
  shares: ThreadShares;
  /** Its number in the shares, from 1. */
  thread: number;
}

/** A body to decode and look through. The bytes change hands. */
export interface BodyJob {
  type: 'job';
  raw: Uint8Array;
  hints: BodyHints;
  request: RequestHints;
  maxDecompressedBytes: number;
}

/** The answer to `key`: the project may exist, go on; or the job is over. */
export interface KeyVerdict {
  type: 'verdict';
  isPossible: boolean;
}

/** A request as a thread found it: its JSON and where in it everything is (scan-request.ts). */
export interface FoundRequest {
  json: Uint8Array;
  slots: Int32Array<ArrayBuffer>;
  events: number;
  token: string;
  isHistorical: boolean;
  sentAtMs: number | null;
  unreadableSentAt?: string | undefined;
  /** Places of events nested too deep. */
  tooDeep: number[];
}

export type ThreadMessage =
  /** A key was found before parsing; the thread waits for the verdict. */
  | { type: 'key'; key: string }
  | { type: 'found'; request: FoundRequest }
  | { type: 'refused'; refusal: Refusal }
  | { type: 'failed'; message: string };

/** An AppError on its way between threads. */
export interface Refusal {
  kind: ErrorKind;
  message: string;
  code: string;
  attr: string | null;
  retryAfterSeconds: number | undefined;
}

const copiedBelowBytes = 64 * 1024;

/** The same bytes in memory that can change hands: small buffers share theirs with others. */
export function toTransferable(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  const isOwn = bytes.length >= copiedBelowBytes && buffer instanceof ArrayBuffer;
  return isOwn ? new Uint8Array(buffer, bytes.byteOffset, bytes.length) : new Uint8Array(bytes);
}
