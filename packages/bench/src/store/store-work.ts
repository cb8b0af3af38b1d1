/** Ways of storing that are measured: `stream` is one of those that run at once, each a list of batches in order. */
export type Stream = Batch[];

export interface Batch {
  /** Rows or persons it stores. */
  size: number;
  run(): Promise<void>;
}

export const batchSize = 500;

/** Cuts a list into batches and deals them out to the streams in turn. */
export function dealBatches<T>(items: readonly T[], streams: number, run: (batch: T[]) => Promise<void>): Stream[] {
  const dealt: Stream[] = Array.from({ length: streams }, () => []);
  for (let start = 0, number = 0; start < items.length; start += batchSize, number++) {
    const batch = items.slice(start, start + batchSize);
    dealt[number % streams]?.push({ size: batch.length, run: () => run(batch) });
  }
  return dealt;
}

/** Runs all streams side by side, each batch after batch. @returns what they stored. */
export async function runStreams(streams: readonly Stream[]): Promise<number> {
  let stored = 0;
  await Promise.all(
    streams.map(async (stream) => {
      for (const { size, run } of stream) {
        await run();
        stored += size;
      }
    }),
  );
  return stored;
}
