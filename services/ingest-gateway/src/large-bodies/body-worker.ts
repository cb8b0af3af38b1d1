/** The program of a body thread: takes one job after the other, decodes the body and finds what is in it. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { isAppError } from '@millrace/errors';
import { decodeBody } from '../bytes/decode-body.ts';
import { decodeParts } from '../event-parts/decode-parts.ts';
import { createThreadLease } from '../memory/byte-budget.ts';
import { decodeV1Body } from '../request-v1/read-v1-body.ts';
import {
  type BodyJob,
  type CaptureJob,
  type Found,
  type KeyCheck,
  type PartsJob,
  type ThreadMessage,
  type ThreadStart,
  toTransferable,
  type V1Job,
} from './body-job.ts';
import { findRequest } from './find-request.ts';
import { findV1Request } from './find-v1-request.ts';

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
