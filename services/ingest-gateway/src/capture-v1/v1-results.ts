import { setImmediate as nextLoop } from 'node:timers/promises';
import type { AnswerBody } from '../answer/send-answer.ts';

/** The answer for every event of a batch: stored, left out for good, or left out because the plan's events are used up. */
export interface V1Results {
  dropped(index: number, details: string): void;
  /** Everything that was not dropped: over the plan's quota. */
  restLimited(): void;
  /**
   * JSON text of the answer, in the order of the batch. For a large batch it is made in slices, so that other requests
   * get served between them.
   */
  toBody(): Promise<AnswerBody>;
}

const ok = '{"result":"ok"}';
const limited = '{"result":"limited","details":"billing_limit_exceeded"}';
/** Some milliseconds of work. */
const resultsPerSlice = 8192;

/** @param uuids of the events in the order of the batch, as the client wrote them; nothing in them has to be escaped. */
export function createV1Results(uuids: readonly string[]): V1Results {
  const dropped: (string | undefined)[] = [];
  let rest = ok;

  function textOf(first: number): string {
    const results = uuids.slice(first, first + resultsPerSlice).map((uuid, number) => {
      const details = dropped[first + number];
      const result = details === undefined ? rest : `{"result":"drop","details":${JSON.stringify(details)}}`;
      return `"${uuid}":${result}`;
    });
    return results.join(',');
  }

  return {
    dropped(index, details) {
      dropped[index] = details;
    },
    restLimited() {
      rest = limited;
    },
    async toBody() {
      if (uuids.length <= resultsPerSlice) return `{"results":{${textOf(0)}}}`;
      // In pieces, which are sent as they are: as one text the answer would be in memory three times.
      const pieces: Buffer[] = [];
      for (let first = 0; first < uuids.length; first += resultsPerSlice) {
        if (first > 0) await nextLoop();
        pieces.push(Buffer.from(`${first === 0 ? '{"results":{' : ','}${textOf(first)}`));
      }
      return [...pieces, Buffer.from('}}')];
    },
  };
}
