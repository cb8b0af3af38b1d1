import type { Worker } from 'node:worker_threads';
import { AppError, type Logger } from '@millrace/runtime';
import { type ByteBudget, type ByteLease, overloaded } from '../body/byte-budget.ts';
import { slotsPerEvent } from '../json/event-fields.ts';
import { type CaptureRequest, type IncomingRequest, readScannedEvent, sentEvents } from '../readers/classic.ts';
import {
  type BodyJob,
  type CaptureJob,
  type Found,
  type FoundRequest,
  type FoundV1,
  type PartsJob,
  type Refusal,
  type ThreadMessage,
  toTransferable,
  type V1Job,
} from './body-job.ts';
import { type BodyThread, type BodyThreads, createBodyThreads, type Turn } from './body-threads.ts';

interface LargeBody extends Omit<CaptureJob, 'type'> {
  lease: ByteLease;
  turn: Turn;
  /** Told the key of the outermost object before anything is parsed; rejects to refuse the request. */
  checkKey(key: string): Promise<void>;
}

interface LargePartsBody extends Omit<PartsJob, 'type'> {
  lease: ByteLease;
  turn: Turn;
}

interface LargeV1Body extends Omit<V1Job, 'type'> {
  lease: ByteLease;
  turn: Turn;
}

/** Bodies that would keep the process too long, worked on in threads beside it. */
export interface LargeBodies {
  /**
   * Decodes a body and finds its events. Waits for its turn and a free thread; what waits is in the byte budget already.
   * @throws AppError as the steps do; `unavailable` when the thread was lost.
   */
  find(body: LargeBody): Promise<FoundRequest>;
  /** The same for an event in parts. */
  findInParts(body: LargePartsBody): Promise<FoundRequest>;
  /** The same for a body of Capture v1. */
  findV1(body: LargeV1Body): Promise<FoundV1>;
  stop(): Promise<void>;
}

/** No real body takes as long. */
const longestJobMs = 30_000;

export function createLargeBodies(options: {
  /** The program of a thread, JavaScript: `body-worker-source.mjs`, or what `body-worker.ts` was built to. */
  program: URL;
  budget: ByteBudget;
  /** The number of threads for bodies of known keys; the budget was made for one more. */
  threads: number;
  /** Memory for the JavaScript objects of one thread. A thread that needs more is ended, and only its request fails. */
  heapMb: number;
  logger: Logger;
}): LargeBodies {
  const { program, budget, heapMb, logger } = options;
  const lane = (numbers: readonly number[]) => createBodyThreads({ program, budget, numbers, heapMb, logger });
  const ofKnown = lane(Array.from({ length: options.threads }, (_, index) => index + 1));
  // Whoever sends bodies without a key that is known keeps only others of their kind waiting.
  const ofOthers = lane([options.threads + 1]);
  let bytesOfOthers = 0;

  async function run(threads: BodyThreads, thread: BodyThread, job: BodyJob, { lease, checkKey }: Asking) {
    const worker = threads.start(thread);
    const timer = setTimeout(() => void worker.terminate(), longestJobMs).unref();
    try {
      return await new Promise<Found>((resolve, reject) => {
        thread.finish = reject;
        thread.answer = (message) => handleMessage(message, { worker, checkKey, resolve, reject });
        const raw = toTransferable(job.raw);
        worker.postMessage({ ...job, raw } satisfies BodyJob, [raw.buffer]);
      });
    } finally {
      clearTimeout(timer);
      thread.finish = undefined;
      thread.answer = () => {};
      handOver(thread, lease);
    }
  }

  /** From now on the request holds what the thread took from the budget. */
  function handOver({ number }: BodyThread, lease: ByteLease): void {
    lease.take(Atomics.exchange(budget.threads.heldKiB, number, 0) * 1024);
  }

  async function work(job: BodyJob, asking: Asking): Promise<Found> {
    if (asking.turn.isKnown) return runIn(ofKnown, job, asking);
    // Together they hold half of the memory for bodies at most.
    const { length } = job.raw;
    if (bytesOfOthers > 0 && bytesOfOthers + length > budget.maxBytes / 2) throw overloaded();
    bytesOfOthers += length;
    try {
      return await runIn(ofOthers, job, asking);
    } finally {
      bytesOfOthers -= length;
    }
  }

  async function runIn(threads: BodyThreads, job: BodyJob, asking: Asking): Promise<Found> {
    const thread = await threads.take(asking.turn.subject);
    try {
      return await run(threads, thread, job, asking);
    } finally {
      threads.release(thread);
    }
  }

  return {
    async find({ lease, turn, checkKey, ...body }) {
      return asCapture(await work({ type: 'capture', ...body }, { lease, turn, checkKey }));
    },
    async findInParts({ lease, turn, ...body }) {
      return asCapture(await work({ type: 'parts', ...body }, { lease, turn, checkKey: neverAsked }));
    },
    async findV1({ lease, turn, ...body }) {
      const found = await work({ type: 'v1', ...body }, { lease, turn, checkKey: neverAsked });
      if (found.kind !== 'v1') throw new Error('A body thread returned an unexpected result.');
      return found;
    },
    async stop() {
      await Promise.all([ofKnown.stop(), ofOthers.stop()]);
    },
  };
}

function asCapture(found: Found): FoundRequest {
  if (found.kind !== 'capture') throw new Error('A body thread returned an unexpected result.');
  return found;
}

/** The API key is already verified. */
async function neverAsked(): Promise<void> {}

type Asking = Pick<LargeBody, 'lease' | 'turn' | 'checkKey'>;

interface MessageContext extends Pick<Asking, 'checkKey'> {
  worker: Worker;
  resolve(found: Found): void;
  reject(error: Error): void;
}

function handleMessage(message: ThreadMessage, { worker, checkKey, resolve, reject }: MessageContext): void {
  const decide = (isPossible: boolean) => worker.postMessage({ type: 'key_check', isPossible });
  switch (message.type) {
    case 'key':
      checkKey(message.key).then(
        () => decide(true),
        (error) => {
          decide(false);
          reject(error);
        },
      );
      return;
    case 'found':
      resolve(message.request);
      return;
    case 'refused':
      reject(toError(message.refusal));
      return;
    case 'failed':
      reject(new Error(`A body thread failed: ${message.message}`));
  }
}

function toError({ kind, message, code, attr, retryAfterSeconds }: Refusal): AppError {
  return new AppError(kind, message, { code, attr, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) });
}

/** A body that is larger, on the wire or decompressed, is decoded and validated in another thread. */
const largeBytes = 256 * 1024;

export function isLarge(bytes: number): boolean {
  return bytes > largeBytes;
}

/** Some milliseconds of work. */
const eventsPerPart = 128;

/** What a thread has found. The events of each slice are read when it is reached. */
export function inParts(found: FoundRequest): IncomingRequest {
  const { token, isHistorical, events, drops } = found;
  return { token, isHistorical, events: sentEvents(events, drops), parts: () => partsOf(found) };
}

function* partsOf(found: FoundRequest): Iterable<CaptureRequest> {
  const { json, slots, events, indexes, drops = [], token, isHistorical, sentAtMs, unreadableSentAt } = found;
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length);
  for (let first = 0; first < events; first += eventsPerPart) {
    const numbers = Array.from({ length: Math.min(eventsPerPart, events - first) }, (_, number) => first + number);
    yield {
      token,
      isHistorical,
      sentAtMs,
      unreadableSentAt,
      firstIndex: first,
      indexes: indexes?.subarray(first, first + eventsPerPart),
      drops: first === 0 ? drops : [],
      events: numbers.map((number) => readScannedEvent(bytes, slots, number * slotsPerEvent)),
    };
  }
}
