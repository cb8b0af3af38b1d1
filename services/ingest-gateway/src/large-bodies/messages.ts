// Messages between the main thread and the threads for large bodies. capture/body-jobs.ts defines the jobs and their
// results.

import type { ErrorKind } from '@millrace/runtime';
import type { ThreadShares } from '../body/byte-budget.ts';

export interface ThreadStart {
  shares: ThreadShares;
  /** The thread's number in the byte budget, starting at 1. */
  thread: number;
}

/** A body for a worker thread. Its bytes are transferred without copying. */
export interface BodyJob {
  raw: Uint8Array;
}

/** The response to a `key` message. If the key does not exist, the thread cancels the job. */
export interface KeyCheck {
  type: 'key_check';
  isPossible: boolean;
}

export type ThreadMessage<Result> =
  /** The thread has found a key. It waits for a `KeyCheck` message before it parses the body. */
  | { type: 'key'; key: string }
  | { type: 'result'; result: Result }
  | { type: 'rejected'; error: TransferredError }
  | { type: 'failed'; message: string };

export interface TransferredError {
  kind: ErrorKind;
  message: string;
  code: string;
  attr: string | null;
  retryAfterSeconds: number | undefined;
}

const copiedBelowBytes = 64 * 1024;

/** Returns bytes that can be transferred to another thread. Copies small buffers, because they share their memory. */
export function toTransferable(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  const isOwnMemory = bytes.length >= copiedBelowBytes && buffer instanceof ArrayBuffer;
  return isOwnMemory ? new Uint8Array(buffer, bytes.byteOffset, bytes.length) : new Uint8Array(bytes);
}
