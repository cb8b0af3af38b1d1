/** The program of a thread for large bodies. It runs one job at a time: it decodes the body and finds its events. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { isAppError } from '@millrace/runtime';
import { type ByteLease, createThreadLease } from '../body/byte-budget.ts';
import { decodeBody } from '../body/decode.ts';
import { positionsPerEvent } from '../json/event-fields.ts';
import { createScanner, type Scan } from '../json/scan.ts';
import { type KeyCheck, type ThreadMessage, type ThreadStart, toTransferable } from '../large-bodies/messages.ts';
import type {
  BodyJob,
  BodyResult,
  ClassicJob,
  MultipartJob,
  ScannedBatch,
  ScannedRequest,
  V1Job,
} from './body-jobs.ts';
import { parseRequest, type RequestHints } from './classic-request.ts';
import { decodeMultipart } from './multipart.ts';
import { parseV1Batch, validateBatch } from './v1-batch.ts';
import { decodeV1Body, type V1Head } from './v1-request.ts';

const { shares, thread } = workerData as ThreadStart;
const lease = createThreadLease(shares, thread);
let onKeyCheck: (isPossible: boolean) => void = () => {};

function listen(port: MessagePort): void {
  const send = (message: ThreadMessage<BodyResult>, ...transferred: ArrayBuffer[]) =>
    port.postMessage(message, transferred);

  async function run(job: BodyJob): Promise<void> {
    const result = await read(job);
    if (result === null) return;
    const { json, slots } = result.events;
    const transferable = toTransferable(json);
    const events = { ...result.events, json: transferable };
    send({ type: 'result', result: { ...result, events } }, transferable.buffer, slots.buffer);
  }

  /**
   * Returns null if no project has the body's API key. The main thread has already rejected the request in this case.
   */
  function read(job: BodyJob): Promise<BodyResult | null> {
    switch (job.type) {
      case 'classic':
        return readClassic(job);
      case 'multipart':
        return readMultipart(job);
      case 'v1':
        return readV1(job);
    }
  }

  async function readClassic({ raw, hints, request, maxDecompressedBytes }: ClassicJob): Promise<BodyResult | null> {
    const body = { raw: toBuffer(raw), hints };
    const { json, apiKey, envelopeKey } = await decodeBody(body, { maxDecompressedBytes, lease });
    // Parse a large body only if its API key may be valid.
    if (envelopeKey !== null && !(await mayBeKnown(envelopeKey))) return null;
    return scanRequest(json, { ...request, apiKey: apiKey ?? request.apiKey });
  }

  async function readMultipart({ raw, request, ...job }: MultipartJob): Promise<BodyResult> {
    const { json, omittedParts } = await decodeMultipart({ ...job, raw: toBuffer(raw) }, { ...job, lease });
    return { ...scanRequest(json, request), omittedParts };
  }

  async function readV1({ raw, hints, sdk, maxDecompressedBytes }: V1Job): Promise<BodyResult> {
    const json = await decodeV1Body({ raw: toBuffer(raw), hints }, { maxDecompressedBytes, lease });
    return scanBatch(json.toString('utf8'), sdk, lease);
  }

  function mayBeKnown(key: string): Promise<boolean> {
    send({ type: 'key', key });
    return new Promise((resolve) => {
      onKeyCheck = resolve;
    });
  }

  port.on('message', (message: BodyJob | KeyCheck) => {
    if (message.type === 'key_check') return onKeyCheck(message.isPossible);
    run(message).catch((error: unknown) => send(toMessage(error)));
  });
}

function toBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

function toMessage(error: unknown): ThreadMessage<BodyResult> {
  if (!isAppError(error)) return { type: 'failed', message: error instanceof Error ? error.message : 'unknown' };
  const { kind, message, code, attr, retryAfterSeconds } = error;
  return { type: 'rejected', error: { kind, message, code, attr, retryAfterSeconds } };
}

if (parentPort !== null) listen(parentPort);

const scan = createScanner();

/**
 * Parses and validates a large body by the rules for small ones. If the JSON had to be repaired, it is serialized
 * again.
 * @throws the errors of `parseRequest`
 */
function scanRequest(json: Buffer, hints: RequestHints): ScannedRequest {
  const { events, ...request } = parseRequest(json, hints);
  const isAsSent = events.every(({ raw }) => raw !== undefined);
  const text = isAsSent ? json : Buffer.from(JSON.stringify({ batch: events }), 'utf8');
  const found = scan(text);
  if (found === null) throw new Error('The repaired body cannot be scanned.');
  // JSON that was serialized again contains only the valid events.
  const slots = isAsSent && request.indexes !== undefined ? slotsAt(found, request.indexes) : eventSlots(found);
  return { kind: 'request', ...request, events: { json: text, slots, length: events.length } };
}

function eventSlots({ shape, events, slots }: Scan): Int32Array<ArrayBuffer> {
  return shape === 'event'
    ? slots.slice(0, positionsPerEvent)
    : slots.slice(positionsPerEvent, (1 + events) * positionsPerEvent);
}

function slotsAt({ slots }: Scan, indexes: Int32Array): Int32Array<ArrayBuffer> {
  const result = new Int32Array(indexes.length * positionsPerEvent);
  for (let number = 0; number < indexes.length; number++) {
    const from = (1 + (indexes[number] ?? 0)) * positionsPerEvent;
    result.set(slots.subarray(from, from + positionsPerEvent), number * positionsPerEvent);
  }
  return result;
}

/**
 * Validates a large Capture v1 batch by the rules for small ones. The valid events are serialized again, because v1
 * clients send some properties outside of `properties`.
 * @throws the errors of `parseV1Batch`
 */
function scanBatch(text: string, sdk: V1Head['sdk'], lease: ByteLease): ScannedBatch {
  const { events, uuids, ...validated } = validateBatch(parseV1Batch(text), sdk);
  const json = Buffer.from(JSON.stringify({ batch: events }), 'utf8');
  lease.take(json.length);
  const found = scan(json);
  if (found === null) throw new Error('The rewritten body cannot be scanned.');
  const slots = found.slots.slice(positionsPerEvent, (1 + found.events) * positionsPerEvent);
  return { kind: 'batch', ...validated, uuids: uuids.join(','), events: { json, slots, length: events.length } };
}
