/** The program of a body thread: takes one job after the other, decodes the body and finds what is in it. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { isAppError } from '@millrace/errors';
import { decodeBody } from '../capture/decode-body.ts';
import { createThreadLease } from '../limits/byte-budget.ts';
import { type BodyJob, type KeyVerdict, type ThreadMessage, type ThreadStart, toTransferable } from './body-job.ts';
import { findRequest } from './find-request.ts';

const { shares, thread } = workerData as ThreadStart;
const lease = createThreadLease(shares, thread);
let decide: (isPossible: boolean) => void = () => {};

function listen(port: MessagePort): void {
  const tell = (message: ThreadMessage, ...transferred: ArrayBuffer[]) => port.postMessage(message, transferred);

  async function work({ raw, hints, request, maxDecompressedBytes }: BodyJob): Promise<void> {
    const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.length);
    const { json, apiKey, envelopeKey } = await decodeBody(bytes, hints, { maxDecompressedBytes, lease });
    // A large body is not parsed for somebody whose key is nobody's.
    if (envelopeKey !== null && !(await mayBeKnown(envelopeKey))) return;
    const found = findRequest(json, { ...request, apiKey: apiKey ?? request.apiKey });
    const result = toTransferable(found.json);
    tell({ type: 'found', request: { ...found, json: result } }, result.buffer, found.slots.buffer);
  }

  function mayBeKnown(key: string): Promise<boolean> {
    tell({ type: 'key', key });
    return new Promise((resolve) => {
      decide = resolve;
    });
  }

  port.on('message', (message: BodyJob | KeyVerdict) => {
    if (message.type === 'verdict') return decide(message.isPossible);
    work(message).catch((error: unknown) => tell(toMessage(error)));
  });
}

function toMessage(error: unknown): ThreadMessage {
  if (!isAppError(error)) return { type: 'failed', message: error instanceof Error ? error.message : 'unknown' };
  const { kind, message, code, attr, retryAfterSeconds } = error;
  return { type: 'refused', refusal: { kind, message, code, attr, retryAfterSeconds } };
}

if (parentPort !== null) listen(parentPort);
