import { concurrency } from './flag-sdk.ts';

/** Calls a function for each item, with several calls in parallel. */
export async function runConcurrently<T>(things: readonly T[], run: (thing: T) => Promise<void>): Promise<void> {
  const waiting = things.values();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (const thing of waiting) await run(thing);
    }),
  );
}
