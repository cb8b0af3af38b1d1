import { AppError } from '@millrace/runtime';

/** Bytes that one request holds of the process's budget. */
export interface ByteLease {
  /**
   * @throws AppError `unavailable` when the budget is used up, for a request that holds much a little earlier; what was
   * taken before stays taken.
   */
  take(bytes: number): void;
  releaseAll(): void;
}

export interface ByteBudget {
  lease(): ByteLease;
  usedBytes(): number;
  maxBytes: number;
  /** What threads of this process take of the same budget (`createThreadLease`). */
  threads: ThreadShares;
}

/** Memory that threads share, as an array of numbers: KiB held by the main thread, then by each other thread. */
export interface ThreadShares {
  heldKiB: Int32Array<SharedArrayBuffer>;
  maxKiB: number;
}

/** An eighth is for requests that hold no more than this: large ones must not keep out the many small ones. */
const smallBytes = 256 * 1024;
const ofLarge = 7 / 8;

/**
 * Bounds the memory of all requests together. Beyond it a request is refused with "come again". Otherwise the process
 * would grow until it is killed, together with everybody's requests.
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
          if (used + heldByThreads() + bytes > (isSmall ? maxBytes : maxBytes * ofLarge)) throw overloaded();
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
 * What thread number `thread`, from 1, takes. Two threads that ask at the same moment may exceed the budget by one
 * piece.
 */
export function createThreadLease({ heldKiB, maxKiB }: ThreadShares, thread: number): ByteLease {
  return {
    take(bytes) {
      const kiB = Math.ceil(bytes / 1024);
      if (heldKiB.reduce((sum, held) => sum + held, kiB) > maxKiB * ofLarge) throw overloaded();
      Atomics.add(heldKiB, thread, kiB);
    },
    releaseAll: () => void Atomics.store(heldKiB, thread, 0),
  };
}

export function overloaded(): AppError {
  return new AppError('unavailable', 'The service is overloaded. Retry the request.', {
    code: 'overloaded',
    retryAfterSeconds: 1,
  });
}
