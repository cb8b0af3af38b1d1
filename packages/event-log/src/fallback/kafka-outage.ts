/** A failure without another one within this time says nothing about the present. */
const failureCountsMs = 5000;

/**
 * How long Kafka has been out, judged by the results of appends: a broker that answers but accepts no records (too few
 * replicas) is out as well. Without traffic its health decides.
 */
export function createKafkaOutage(isHealthy: () => boolean) {
  let failingSince: number | null = null;
  let failedAt = 0;

  return {
    failed(): void {
      failedAt = performance.now();
      failingSince ??= failedAt;
    },
    succeeded(): void {
      failingSince = null;
    },
    over(): void {
      failingSince = null;
    },
    /** 0 when it is not out. */
    durationMs(): number {
      const now = performance.now();
      if (!isHealthy()) failingSince ??= now;
      else if (now - failedAt > failureCountsMs) failingSince = null;
      return failingSince === null ? 0 : now - failingSince;
    },
  };
}
