import { AppError } from '@millrace/errors';

/** Bytes that one request holds of the process's budget. */
export interface ByteLease {
  /** @throws AppError `unavailable` when the budget is used up; what was taken before stays taken. */
  take(bytes: number): void;
  releaseAll(): void;
}

export interface ByteBudget {
  lease(): ByteLease;
  usedBytes(): number;
}

/**
 * Bounds what all requests together keep in memory (ARCHITECTURE.md, "Promises" 5): beyond it a request is refused
 * with "come again" instead of the process growing until it is killed with everyone's requests in it.
 */
export function createByteBudget(maxBytes: number): ByteBudget {
  let used = 0;
  return {
    usedBytes: () => used,
    lease() {
      let held = 0;
      return {
        take(bytes) {
          if (used + bytes > maxBytes) {
            throw new AppError('unavailable', 'The service is receiving more than it can hold. Please send it again.', {
              code: 'overloaded',
              retryAfterSeconds: 1,
            });
          }
          used += bytes;
          held += bytes;
        },
        releaseAll() {
          used -= held;
          held = 0;
        },
      };
    },
  };
}
