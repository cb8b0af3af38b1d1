// Limits the memory of all request bodies together, by rejecting requests before the memory is used up.

import { AppError } from '@millrace/runtime';

/** A request's reservation in the process's byte budget. */
export interface ByteLease {
  /**
   * Reserves memory for the request, in addition to its earlier reservations. Large requests have a lower limit.
   * @throws AppError `unavailable` if the budget is used up
   */
  take(bytes: number): void;
  releaseAll(): void;
}

export interface ByteBudget {
  lease(): ByteLease;
  usedBytes(): number;
  maxBytes: number;
  /** The memory that worker threads have reserved in the same budget (`createThreadLease`). */
  threads: ThreadShares;
}

/** Shared memory with one number per thread: the KiB that it has reserved. The main thread comes first. */
export interface ThreadShares {
  heldKiB: Int32Array<SharedArrayBuffer>;
  maxKiB: number;
}

/** An eighth of the budget is reserved for requests up to this size, so that large requests cannot block small ones. */
const smallBytes = 256 * 1024;
const shareOfLarge = 7 / 8;

/**
 * Limits the memory of all requests together. Requests beyond the limit get an error and can be retried. Without the
 * limit, the operating system would kill the process, and all requests would fail.
 */
export function createByteBudget(maxBytes: number, threads = 0): ByteBudget {
  const heldKiB = new Int32Array(new SharedArrayBuffer(4 * (1 + threads)));
  let used = 0;

  function heldByThreads(): number {
    let kiB = 0;
    for (let thread = 1; thread <= threads; thread++) kiB += heldKiB[thread] ?? 0;
    return kiB * 1024;
  }

  function change(by: number): void {
    used += by;
    heldKiB[0] = used / 1024;
  }

  return {
    threads: { heldKiB, maxKiB: maxBytes / 1024 },
    usedBytes: () => used + heldByThreads(),
    maxBytes,
    lease() {
      let held = 0;
      return {
        take(bytes) {
          const isSmall = held + bytes <= smallBytes;
          if (used + heldByThreads() + bytes > (isSmall ? maxBytes : maxBytes * shareOfLarge)) throw overloadedError();
          change(bytes);
          held += bytes;
        },
        releaseAll() {
          change(-held);
          held = 0;
        },
      };
    },
  };
}

/**
 * Creates a worker thread's lease. Two threads that reserve memory at the same moment can exceed the budget slightly.
 * @param thread the thread's number, starting at 1
 */
export function createThreadLease({ heldKiB, maxKiB }: ThreadShares, thread: number): ByteLease {
  return {
    take(bytes) {
      const kiB = Math.ceil(bytes / 1024);
      if (heldKiB.reduce((sum, held) => sum + held, kiB) > maxKiB * shareOfLarge) throw overloadedError();
      Atomics.add(heldKiB, thread, kiB);
    },
    releaseAll: () => void Atomics.store(heldKiB, thread, 0),
  };
}

export function overloadedError(): AppError {
  return new AppError('unavailable', 'The service is overloaded. Retry the request.', {
    code: 'overloaded',
    retryAfterSeconds: 1,
  });
}
