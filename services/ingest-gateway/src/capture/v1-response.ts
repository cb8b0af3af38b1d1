import { setImmediate as nextLoop } from 'node:timers/promises';
import { toAppError, toErrorBody } from '@millrace/http';
import { type GatewayResponseBody, type Refusal, toRefusal } from '../response/send-response.ts';
import { createDropTally, type DropTally } from './drops.ts';
import type { ValidatedBatch } from './v1-batch.ts';

/** The result of each event in a batch: stored, dropped, or not stored because the plan's quota is used up. */
export interface V1Results {
  dropped(index: number, details: string): void;
  /** Marks all events that were not dropped as over the quota. */
  restLimited(): void;
  /**
   * Creates the response's JSON, in the order of the batch. Other requests are served while a large response is
   * created.
   */
  toBody(): Promise<GatewayResponseBody>;
}

const ok = '{"result":"ok"}';
const limited = '{"result":"limited","details":"billing_limit_exceeded"}';
/** How many results are serialized before other requests are served. A slice takes a few milliseconds. */
const resultsPerSlice = 8192;

/**
 * Creates the results of a batch, in which all events count as stored at first.
 * @param uuids the UUIDs of the events in the order of the batch, as they were sent. They contain no characters that
 *   must be escaped.
 */
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
      // The chunks are sent one by one. Combined into one string, the response would be in memory three times.
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
 * Creates a tally that also adds each dropped event to the results. It starts with the events that validation dropped.
 */
export function createV1Tally(drops: ValidatedBatch['drops'], results: V1Results): DropTally {
  const tally = createDropTally();
  for (const { reason, indexes, samples } of drops) {
    for (const [number, index] of indexes.entries()) {
      results.dropped(index, reason);
      tally.add(reason, samples[number] ?? { index, uuid: null, event: null });
    }
  }
  return {
    ...tally,
    add(reason, sample) {
      results.dropped(sample.index, reason);
      tally.add(reason, sample);
    },
  };
}

/** Maps the other protocols' error codes to those of Capture v1 (docs/wire-rules.md#capture-v1). */
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

/** Statuses after which the client can retry the request, once the time in `Retry-After` has passed. */
const retriedStatuses = new Set([408, 429, 500, 503]);

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
    // The errors have no documentation pages. `about:blank` means that the response explains itself.
    body: JSON.stringify({ error: code, error_description: toErrorBody(known).detail, error_uri: 'about:blank' }),
    headers: {
      ...(retriedStatuses.has(status) ? { 'retry-after': '1' } : {}),
      ...refusal.headers,
      ...(status === 405 ? { allow: 'POST, OPTIONS' } : {}),
    },
  };
}
