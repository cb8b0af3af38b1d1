import { setImmediate as nextLoop } from 'node:timers/promises';
import { toAppError, toErrorBody } from '@millrace/http';
import { type AnswerBody, type Refusal, toRefusal } from '../answer/send-answer.ts';
import { createDropTally, type DropTally } from '../readers/drops.ts';
import type { ValidatedBatch } from '../readers/v1-batch.ts';

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

/**
 * A tally that also enters each dropped event into the results, and that begins with the events that validation
 * dropped. Events that are dropped later (by the operator's lists, or because they are too large for the log) are
 * numbered among those that validation let through. Here they get their index in the batch, which is what the project
 * is told.
 */
export function createV1Tally(
  { drops, indexes }: Pick<ValidatedBatch, 'drops' | 'indexes'>,
  results: V1Results,
): DropTally {
  const tally = createDropTally();
  for (const { reason, indexes: droppedIndexes, samples } of drops) {
    for (const [number, index] of droppedIndexes.entries()) {
      results.dropped(index, reason);
      tally.add(reason, samples[number] ?? { index, uuid: null, event: null });
    }
  }
  const indexInBatch = (index: number) => indexes[index] ?? index;
  return {
    ...tally,
    add(reason, sample) {
      const index = indexInBatch(sample.index);
      results.dropped(index, reason);
      tally.add(reason, { ...sample, index });
    },
    note: (finding, sample) => tally.note(finding, { ...sample, index: indexInBatch(sample.index) }),
  };
}

/** Codes of the steps shared with the other paths, in the words of this one (docs/wire-rules.md#capture-v1). */
const tags: Record<string, string> = {
  no_data: 'empty_body',
  invalid_gzip: 'request_decoding_error',
  invalid_utf8: 'request_decoding_error',
  invalid_json: 'request_parsing_error',
  upload_stalled: 'body_read_timeout',
  throttled: 'rate_limited',
  request_too_large: 'payload_too_large',
  too_many_values: 'payload_too_large',
  event_too_large: 'payload_too_large',
  unavailable: 'service_unavailable',
  overloaded: 'service_unavailable',
  body_thread_lost: 'service_unavailable',
  error: 'internal_error',
};

/** For faults of the server, or faults that pass: the client may try again after so many seconds. */
const retriedStatuses = new Set([408, 429, 500, 503]);

/** The answer to a request of Capture v1 that was refused or failed as a whole. */
export function toV1Refusal(error: unknown): Refusal {
  const known = toAppError(error);
  const refusal = toRefusal(known);
  const { status } = refusal;
  const code =
    known.kind === 'unauthenticated' && known.code !== 'missing_authorization'
      ? 'invalid_api_token'
      : (tags[refusal.code] ?? refusal.code);
  return {
    ...refusal,
    code,
    // Errors have no pages of their own; `about:blank` says that the description is all there is.
    body: JSON.stringify({ error: code, error_description: toErrorBody(known).detail, error_uri: 'about:blank' }),
    headers: {
      ...(retriedStatuses.has(status) ? { 'retry-after': '1' } : {}),
      ...refusal.headers,
      ...(status === 405 ? { allow: 'POST, OPTIONS' } : {}),
    },
  };
}
