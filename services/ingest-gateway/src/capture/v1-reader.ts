import type { IncomingMessage } from 'node:http';
import { AppError } from '@millrace/runtime';
import { requirePossibleKey } from '../access/authorize.ts';
import type { ByteLease } from '../body/byte-budget.ts';
import { claimedSize } from '../body/inflate.ts';
import type { FoundV1 } from '../large-bodies/body-job.ts';
import { findTurn } from '../large-bodies/body-threads.ts';
import { inParts, isLarge } from '../large-bodies/large-bodies.ts';
import type { CaptureRequest } from '../readers/classic.ts';
import { parseV1Batch, type ValidatedBatch, validateBatch } from '../readers/v1-batch.ts';
import { decodeV1Body, readV1Head, receiveV1Body, type V1Body, type V1Head } from '../readers/v1-request.ts';
import type { CaptureDependencies, CaptureReader } from './reader.ts';
import { createV1Results, createV1Tally, toV1Refusal } from './v1-answer.ts';

export const captureV1Path = '/i/v1/analytics/events';

type ReaderDependencies = Pick<CaptureDependencies, 'limits' | 'uploads' | 'largeBodies' | 'projectKeys' | 'metrics'>;

/** Reads Capture v1, with a result for every event (docs/wire-rules.md#capture-v1). */
export function v1Reader(deps: ReaderDependencies): CaptureReader {
  return {
    path: captureV1Path,
    nameForNameless: null,
    maxRecordBytes: deps.limits.maxRecordBytes,
    refusesLargeEvents: false,
    toRefusal: toV1Refusal,
    async read(request, lease) {
      if (request.method !== 'POST') throw new AppError('method_not_allowed', 'This path accepts only POST requests.');
      const head = readV1Head(request.headers);
      const { token } = head;
      await requirePossibleKey(token, deps.projectKeys);
      const { uuids, indexes, drops, isHistorical, parts } = await readBatch(request, head, lease, deps);
      const results = createV1Results(uuids);
      return {
        ...{ token, isHistorical, events: uuids.length, parts },
        dropped: createV1Tally({ drops, indexes }, results),
        // Only some clients of this protocol do (docs/wire-rules.md#capture-v1), and none says which it is.
        retriesOn429: false,
        async answer(outcome) {
          if (outcome === 'quota_limited') results.restLimited();
          return { status: 200, body: await results.toBody(), headers: {} };
        },
      };
    },
  };
}

/** A batch whose events were looked at, wherever that was done. */
interface ReadBatch extends Omit<ValidatedBatch, 'events'> {
  /** The accepted events, in at least one slice; those of a large request come in several. */
  parts(): Iterable<CaptureRequest>;
}

/**
 * In this thread or, for a body that would keep it too long, in another one.
 * @throws AppError see `receiveV1Body`, `decodeV1Body`, `parseV1Batch`; `unavailable` when the thread was lost.
 */
async function readBatch(
  request: IncomingMessage,
  head: V1Head,
  lease: ByteLease,
  { limits, uploads, metrics, largeBodies, projectKeys }: ReaderDependencies,
): Promise<ReadBatch> {
  const { maxDecompressedBytes, trustProxy } = limits;
  const { sdk } = head;
  const inThread = async (body: V1Body) => {
    const turn = await findTurn(request, [head.token], { projectKeys, trustProxy });
    return fromThread(await largeBodies.findV1({ ...body, sdk, maxDecompressedBytes, lease, turn }), head);
  };
  const body = await receiveV1Body(request, { limits, lease, uploads, onReceived: metrics.bodyReceived });
  if (isLarge(body.raw.length) || isLarge(claimedSize(body.raw))) return inThread(body);
  const json = await decodeV1Body(body, { maxDecompressedBytes, lease });
  if (isLarge(json.length)) return inThread({ raw: json, contentEncoding: undefined });
  const { events, ...validated } = validateBatch(parseV1Batch(json.toString('utf8')), sdk);
  return { ...validated, parts: () => [{ ...of(head, validated), events }] };
}

function fromThread({ json, slots, events, uuids, ...validated }: FoundV1, head: V1Head): ReadBatch {
  const common = of(head, validated);
  const { parts } = inParts({ kind: 'capture', ...common, json, slots, events });
  // Dropped events are reported to the project even when no event is left.
  return { ...validated, uuids: uuids.split(','), parts: events === 0 ? () => [{ ...common, events: [] }] : parts };
}

function of({ token, sentAtMs }: V1Head, { isHistorical }: Pick<ValidatedBatch, 'isHistorical'>) {
  return { token, sentAtMs, isHistorical };
}
