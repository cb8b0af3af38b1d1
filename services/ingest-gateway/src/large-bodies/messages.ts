// Messages between the main thread and the threads for large bodies. Which jobs there are, and what their results contain,
// is defined by the readers (capture/body-jobs.ts).

import type { ErrorKind } from '@millrace/runtime';
import type { ThreadShares } from '../body/byte-budget.ts';

/** Start data of a thread. */
export interface ThreadStart {
  shares: ThreadShares;
  /** Number of the thread in the shares, starting at 1. */
  thread: number;
}

/** A body for a thread. Its bytes are transferred, not copied. */
export interface BodyJob {
  raw: Uint8Array;
}

/** Reply to a message of type `key`. If no project has the key, the thread abandons the job. */
export interface KeyCheck {
  type: 'key_check';
  isPossible: boolean;
}

export type ThreadMessage<Result> =
  /** The thread has found a key, and waits for a `KeyCheck` before it parses the body. */
  | { type: 'key'; key: string }
  | { type: 'result'; result: Result }
  | { type: 'rejected'; error: TransferredError }
  | { type: 'failed'; message: string };

/** An AppError as it is sent between threads. */
export interface TransferredError {
  kind: ErrorKind;
  message: string;
  code: string;
  attr: string | null;
  retryAfterSeconds: number | undefined;
}

const copiedBelowBytes = 64 * 1024;

/** Returns the bytes in memory that can be transferred. Small buffers share their memory with others, so they are copied. */
export function toTransferable(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  const isOwnMemory = bytes.length >= copiedBelowBytes && buffer instanceof ArrayBuffer;
  return isOwnMemory ? new Uint8Array(buffer, bytes.byteOffset, bytes.length) : new Uint8Array(bytes);
}
