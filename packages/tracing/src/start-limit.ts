/** @returns says yes so often in each second, and no after that. */
export function createStartLimit(perSecond: number, now: () => number = () => performance.now()): () => boolean {
  let second = Number.NEGATIVE_INFINITY;
  let started = 0;
  return () => {
    const current = Math.floor(now() / 1000);
    if (current !== second) {
      second = current;
      started = 0;
    }
    started += 1;
    return started <= perSecond;
  };
}
