const burst = 10;
const refillMs = 10_000;

/** Lets ten of a kind through at once, then one every ten seconds. */
export function createFloodLimit(): (kind: string) => boolean {
  /** By kind: when all ten could be used again. */
  const fullAt = new Map<string, number>();
  return (kind) => {
    const now = Date.now();
    const full = Math.max(fullAt.get(kind) ?? 0, now);
    if (full - now > (burst - 1) * refillMs) return false;
    fullAt.set(kind, full + refillMs);
    return true;
  };
}
