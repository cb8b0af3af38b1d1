import { concurrency } from './flag-sdk.ts';

export async function runConcurrently<T>(things: readonly T[], run: (thing: T) => Promise<void>): Promise<void> {
  const waiting = things.values();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (const thing of waiting) await run(thing);
    }),
  );
}
