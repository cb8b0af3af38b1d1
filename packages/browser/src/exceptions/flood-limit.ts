const burst = 10;
const refillMs = 10_000;

/** Lets ten of a kind through at once, then one every ten seconds. */
export function createFloodLimit(now: () => number = Date.now): (kind: string) => boolean {
  const buckets = new Map<string, { left: number; at: number }>();
  return (kind) => {
    const time = now();
    const bucket = buckets.get(kind) ?? { left: burst, at: time };
    const refills = Math.max(0, Math.floor((time - bucket.at) / refillMs));
    const left = Math.min(burst, bucket.left + refills);
    buckets.set(kind, { left: Math.max(0, left - 1), at: bucket.at + refills * refillMs });
    return left > 0;
  };
}
