import { concurrency } from './flag-sdk.ts';

/** Calls `ask` for each item, a few at a time. */
export async function askEach<T>(things: readonly T[], ask: (thing: T) => Promise<void>): Promise<void> {
  const waiting = things.values();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (const thing of waiting) await ask(thing);
    }),
  );
}
