/** The program of a body thread: takes one job after the other, decodes the body and finds what is in it. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { isAppError } from '@millrace/runtime';
import { type ByteLease, createThreadLease } from '../body/byte-budget.ts';
import { decodeBody } from '../body/decode.ts';
import { slotsPerEvent } from '../json/event-fields.ts';
import { createScanner, type Scan } from '../json/scan.ts';
import { parseCaptureRequest, type RequestHints } from '../readers/classic.ts';
import { decodeParts } from '../readers/parts.ts';
import { parseV1Batch, validateBatch } from '../readers/v1-batch.ts';
import { decodeV1Body, type V1Head } from '../readers/v1-request.ts';
import {
  type BodyJob,
  type CaptureJob,
  type Found,
  type FoundRequest,
  type FoundV1,
  type KeyCheck,
  type PartsJob,
  type ThreadMessage,
  type ThreadStart,
  toTransferable,
  type V1Job,
} from './body-job.ts';

const { shares, thread } = workerData as ThreadStart;
const lease = createThreadLease(shares, thread);
let decide: (isPossible: boolean) => void = () => {};

function listen(port: MessagePort): void {
  const tell = (message: ThreadMessage, ...transferred: ArrayBuffer[]) => port.postMessage(message, transferred);

  async function work(job: BodyJob): Promise<void> {
    const found = await findAny(job);
    if (found === null) return;
    const result = toTransferable(found.json);
    tell({ type: 'found', request: { ...found, json: result } }, result.buffer, found.slots.buffer);
  }

  function findAny(job: BodyJob): Promise<Found | null> {
    switch (job.type) {
      case 'capture':
        return find(job);
      case 'parts':
        return findInParts(job);
      case 'v1':
        return findInV1(job);
    }
  }

  /** Null when the key is no project's. */
  async function find({ raw, hints, request, maxDecompressedBytes }: CaptureJob): Promise<Found | null> {
    const options = { maxDecompressedBytes, lease };
    const { json, apiKey, envelopeKey } = await decodeBody(bytesOf(raw), hints, options);
    // A large body is not parsed when its key is no project's.
    if (envelopeKey !== null && !(await mayBeKnown(envelopeKey))) return null;
    return findRequest(json, { ...request, apiKey: apiKey ?? request.apiKey });
  }

  async function findInParts({ raw, request, ...job }: PartsJob): Promise<Found> {
    const { json, leftOut } = await decodeParts({ ...job, raw: bytesOf(raw) }, { ...job, lease });
    return { ...findRequest(json, request), leftOut };
  }

  async function findInV1({ raw, contentEncoding, sdk, maxDecompressedBytes }: V1Job): Promise<Found> {
    const json = await decodeV1Body({ raw: bytesOf(raw), contentEncoding }, { maxDecompressedBytes, lease });
    return findV1Request(json.toString('utf8'), sdk, lease);
  }

  function mayBeKnown(key: string): Promise<boolean> {
    tell({ type: 'key', key });
    return new Promise((resolve) => {
      decide = resolve;
    });
  }

  port.on('message', (message: BodyJob | KeyCheck) => {
    if (message.type === 'key_check') return decide(message.isPossible);
    work(message).catch((error: unknown) => tell(toMessage(error)));
  });
}

function bytesOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

function toMessage(error: unknown): ThreadMessage {
  if (!isAppError(error)) return { type: 'failed', message: error instanceof Error ? error.message : 'unknown' };
  const { kind, message, code, attr, retryAfterSeconds } = error;
  return { type: 'refused', refusal: { kind, message, code, attr, retryAfterSeconds } };
}

if (parentPort !== null) listen(parentPort);

const scan = createScanner();

/**
 * Step 3 for a large body: validates it like a small one and gives its events as positions in JSON, which can be
 * transferred to another thread at no cost. JSON that had to be repaired is written again.
 *
 * @throws AppError see `parseCaptureRequest`.
 */
function findRequest(json: Buffer, hints: RequestHints): FoundRequest {
  const { events, ...request } = parseCaptureRequest(json, hints);
  const isAsWritten = events.every(({ raw }) => raw !== undefined);
  const text = isAsWritten ? json : Buffer.from(JSON.stringify({ batch: events }), 'utf8');
  const found = scan(text);
  if (found === null) throw new Error('The repaired body cannot be scanned.');
  // JSON that was written again holds the usable events only.
  const slots = isAsWritten && request.indexes !== undefined ? slotsAt(found, request.indexes) : eventSlots(found);
  return { kind: 'capture', ...request, json: text, slots, events: events.length };
}

function eventSlots({ shape, events, slots }: Scan): Int32Array<ArrayBuffer> {
  return shape === 'event' ? slots.slice(0, slotsPerEvent) : slots.slice(slotsPerEvent, (1 + events) * slotsPerEvent);
}

/** Those of the events at these indexes. */
function slotsAt({ slots }: Scan, indexes: Int32Array): Int32Array<ArrayBuffer> {
  const kept = new Int32Array(indexes.length * slotsPerEvent);
  for (let number = 0; number < indexes.length; number++) {
    const from = (1 + (indexes[number] ?? 0)) * slotsPerEvent;
    kept.set(slots.subarray(from, from + slotsPerEvent), number * slotsPerEvent);
  }
  return kept;
}

/**
 * Step 3 for a large body of Capture v1: validates every event like in a small one. The accepted events are written
 * again, because clients of this protocol move some properties elsewhere, and are given as positions in that JSON.
 *
 * @throws AppError see `parseV1Batch`.
 */
function findV1Request(text: string, sdk: V1Head['sdk'], lease: ByteLease): FoundV1 {
  const { events, uuids, ...validated } = validateBatch(parseV1Batch(text), sdk);
  const json = Buffer.from(JSON.stringify({ batch: events }), 'utf8');
  lease.take(json.length);
  const found = scan(json);
  if (found === null) throw new Error('The rewritten body cannot be scanned.');
  const slots = found.slots.slice(slotsPerEvent, (1 + found.events) * slotsPerEvent);
  return { kind: 'v1', ...validated, uuids: uuids.join(','), json, slots, events: events.length };
}
