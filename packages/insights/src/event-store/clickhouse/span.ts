/**
 * Determines the time span of the next portion of events to copy. A portion should take some seconds, and is shorter
 * after a failure.
 */
export interface CopySpan {
  readonly ms: number;
  /**
   * Copies one portion and measures how long this takes. If copying fails, shortens the next portion and rethrows the
   * error.
   */
  measure(copy: () => Promise<void>): Promise<void>;
}

const firstMs = 60_000;
const [leastMs, maxMs] = [1000, 86_400_000];
const [shortMs, longMs] = [2000, 20_000];

export function createCopySpan(): CopySpan {
  let ms = firstMs;
  return {
    get ms() {
      return ms;
    },
    async measure(copy) {
      const began = performance.now();
      try {
        await copy();
      } catch (error) {
        ms = Math.max(leastMs, ms / 4);
        throw error;
      }
      const took = performance.now() - began;
      if (took < shortMs) ms = Math.min(maxMs, ms * 2);
      else if (took > longMs) ms = Math.max(leastMs, ms / 2);
    },
  };
}
