import type { IncomingMessage } from 'node:http';
import { claimedSize } from '../bytes/gunzip.ts';
import type { CaptureDependencies } from '../capture/capture-dependencies.ts';
import type { FoundV1 } from '../large-bodies/body-job.ts';
import { inParts } from '../large-bodies/in-parts.ts';
import { isLarge } from '../large-bodies/is-large.ts';
import type { ByteLease } from '../memory/byte-budget.ts';
import type { CaptureRequest } from '../request/parse-capture-request.ts';
import { parseV1Batch } from '../request-v1/parse-v1-batch.ts';
import { decodeV1Body, receiveV1Body, type V1Body } from '../request-v1/read-v1-body.ts';
import type { V1Head } from '../request-v1/v1-head.ts';
import { type ValidatedBatch, validateBatch } from '../request-v1/validate-batch.ts';

/** A request of Capture v1 whose events were looked at, wherever that was done. */
export interface V1Request extends Omit<ValidatedBatch, 'events'> {
  /** The events that go on, at least one part; those of a large request come in several. */
  parts(): Iterable<CaptureRequest>;
}

/**
 * Steps 2 and 3, in this thread or, for a body that would keep it too long, in another one.
 *
 * @throws AppError see `receiveV1Body`, `decodeV1Body`, `parseV1Batch`; `unavailable` when the thread was lost.
 */
export async function readV1Request(
  request: IncomingMessage,
  head: V1Head,
  lease: ByteLease,
  { limits, metrics, largeBodies }: CaptureDependencies,
): Promise<V1Request> {
  const { maxDecompressedBytes } = limits;
  const { sdk } = head;
  const inThread = async (body: V1Body) =>
    fromThread(await largeBodies.findV1({ ...body, sdk, maxDecompressedBytes, lease }), head);
  const body = await receiveV1Body(request, { limits, lease, onReceived: metrics.bodyReceived });
  if (isLarge(body.raw.length) || isLarge(claimedSize(body.raw))) return inThread(body);
  const json = await decodeV1Body(body, { maxDecompressedBytes, lease });
  if (isLarge(json.length)) return inThread({ raw: json, contentEncoding: undefined });
  const { events, ...validated } = validateBatch(parseV1Batch(json.toString('utf8')), sdk);
  return { ...validated, parts: () => [{ ...of(head, validated), events }] };
}

function fromThread({ json, slots, events, uuids, ...validated }: FoundV1, head: V1Head): V1Request {
  const common = of(head, validated);
  const { parts } = inParts({ kind: 'capture', ...common, json, slots, events });
  // Dropped events are reported to the project even when no event is left.
  return { ...validated, uuids: uuids.split(','), parts: events === 0 ? () => [{ ...common, events: [] }] : parts };
}

function of({ token, sentAtMs }: V1Head, { isHistorical }: Pick<ValidatedBatch, 'isHistorical'>) {
  return { token, sentAtMs, isHistorical };
}
