/** What became of one event: stored, left out for good, or left out because the plan's events are used up. */
type V1Result = { result: 'ok' } | { result: 'drop' | 'limited'; details: string };

/** The answer for every event of a batch. */
export interface V1Results {
  dropped(index: number, details: string): void;
  /** Everything that was not dropped: over the plan's quota. */
  restLimited(): void;
  /** JSON text of the answer, in the order of the batch. */
  toBody(): string;
}

/** @param uuids of the events in the order of the batch, as the client wrote them. */
export function createV1Results(uuids: readonly string[]): V1Results {
  const results = uuids.map((): V1Result => ({ result: 'ok' }));
  return {
    dropped(index, details) {
      results[index] = { result: 'drop', details };
    },
    restLimited() {
      for (const [index, { result }] of results.entries()) {
        if (result === 'ok') results[index] = { result: 'limited', details: 'billing_limit_exceeded' };
      }
    },
    toBody: () => JSON.stringify({ results: Object.fromEntries(uuids.map((uuid, index) => [uuid, results[index]])) }),
  };
}
