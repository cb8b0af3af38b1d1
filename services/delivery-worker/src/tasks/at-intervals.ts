/**
 * For work that looks through tables: does it again at once while there is more, and then not before `intervalMs` have
 * passed. After a failure it is tried as usual.
 */
export function atIntervals(intervalMs: number, work: () => Promise<boolean>): () => Promise<boolean> {
  let notBefore = 0;
  return async () => {
    if (performance.now() < notBefore) return false;
    const hasMore = await work();
    if (!hasMore) notBefore = performance.now() + intervalMs;
    return hasMore;
  };
}
