import type { IncomingMessage } from 'node:http';
import { AppError } from '@millrace/runtime';
import { rejectUnknownKey } from '../access/authorize.ts';
import type { ByteLease } from '../body/byte-budget.ts';
import { isLarge, isLargeBody, type ReceivedBody } from '../body/decode.ts';
import { findBodyOwner } from '../large-bodies/body-threads.ts';
import type { ScannedEvents } from './body-jobs.ts';
import { type CaptureReader, type ReaderDependencies, sliceEvents } from './capture-request.ts';
import { parseV1Batch, type ValidatedBatch, validateBatch } from './v1-batch.ts';
import { createJsonHints, decodeV1Body, readV1Head, receiveV1Body, type V1Head } from './v1-request.ts';
import { createV1Results, createV1Tally, toV1Refusal } from './v1-response.ts';

export const captureV1Path = '/i/v1/analytics/events';

/** Reads Capture v1 requests, and creates responses with a result for each event (docs/wire-rules.md#capture-v1). */
export function createV1Reader(deps: ReaderDependencies): CaptureReader {
  return {
    path: captureV1Path,
    nameForNameless: null,
    maxRecordBytes: deps.limits.maxRecordBytes,
    refusesLargeEvents: false,
    toRefusal: toV1Refusal,
    async read(request, lease) {
      if (request.method !== 'POST') throw new AppError('method_not_allowed', 'This path accepts only POST requests.');
      const head = readV1Head(request.headers);
      const { token, sentAtMs } = head;
      await rejectUnknownKey(token, deps.projectKeys);
      const { uuids, indexes, drops, isHistorical, events } = await readBatch(request, head, lease, deps);
      const results = createV1Results(uuids);
      return {
        token,
        isHistorical,
        sentAtMs,
        eventCount: uuids.length,
        slices: () => sliceEvents(events),
        indexes,
        dropped: createV1Tally(drops, results),
        // Only some v1 clients send events again after 429 (docs/wire-rules.md#capture-v1), and the gateway cannot
        // recognize them.
        retriesOn429: false,
        async respond(outcome) {
          if (outcome === 'quota_limited') results.restLimited();
          return { status: 200, body: await results.toBody(), headers: {} };
        },
      };
    },
  };
}

/**
 * Decodes and validates a batch, in another thread if it would block this one for too long.
 * @throws the errors of `receiveV1Body`, `decodeV1Body` and `parseV1Batch`, or AppError `unavailable` if the thread
 * crashed
 */
async function readBatch(
  request: IncomingMessage,
  { token, sdk }: V1Head,
  lease: ByteLease,
  { limits, uploads, metrics, largeBodies, projectKeys }: ReaderDependencies,
): Promise<Omit<ValidatedBatch, 'events'> & { events: ValidatedBatch['events'] | ScannedEvents }> {
  const { maxDecompressedBytes, trustProxy } = limits;
  const readInThread = async ({ raw, hints }: ReceivedBody) => {
    const owner = await findBodyOwner(request, [token], { projectKeys, trustProxy });
    const result = await largeBodies.read({ type: 'v1', raw, hints, sdk, maxDecompressedBytes }, { lease, owner });
    if (result.kind !== 'batch') throw new Error('A body thread returned an unexpected result.');
    return { ...result, uuids: result.uuids.split(',') };
  };
  const body = await receiveV1Body(request, { limits, lease, uploads, onReceived: metrics.bodyReceived });
  if (isLargeBody(body)) return readInThread(body);
  const json = await decodeV1Body(body, { maxDecompressedBytes, lease });
  if (isLarge(json.length)) return readInThread({ raw: json, hints: createJsonHints('') });
  return validateBatch(parseV1Batch(json.toString('utf8')), sdk);
}
