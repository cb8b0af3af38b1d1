// Applies backpressure to clients: requests are rejected before the bodies of all requests together need too much
// memory.

import { AppError } from '@millrace/runtime';

/** The memory that one request has reserved in the process's byte budget. */
export interface ByteLease {
  /**
   * Reserves memory for the request. The limit is lower for large requests. Memory that was reserved before remains
   * reserved.
   * @throws AppError `unavailable` if the budget is used up
   */
  take(bytes: number): void;
  releaseAll(): void;
}

export interface ByteBudget {
  lease(): ByteLease;
  usedBytes(): number;
  maxBytes: number;
  /** The memory that this process's worker threads have reserved in the same budget (`createThreadLease`). */
  threads: ThreadShares;
}

/** Shared memory with the KiB reserved by the main thread, followed by the KiB reserved by each other thread. */
export interface ThreadShares {
  heldKiB: Int32Array<SharedArrayBuffer>;
  maxKiB: number;
}

/** An eighth of the budget is reserved for requests up to this size, so that large requests cannot block small ones. */
const smallBytes = 256 * 1024;
const shareOfLarge = 7 / 8;

/**
 * Limits the memory of all requests together. Beyond the limit, requests get an error and can be retried. Otherwise,
 * the process would grow until the operating system kills it, and all requests would fail.
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
 * Creates a lease for a thread. If two threads reserve memory at the same moment, they can exceed the budget slightly.
 * @param thread number of the thread, starting at 1
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
