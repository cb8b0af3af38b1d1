import { Worker } from 'node:worker_threads';
import { AppError } from '@millrace/errors';
import type { Logger } from '@millrace/runtime';
import type { ByteBudget, ByteLease } from '../memory/byte-budget.ts';
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

export interface LargeBodiesOptions {
  /** The program of a thread, JavaScript: `body-worker-source.mjs`, or what `body-worker.ts` was built to. */
  program: URL;
  budget: ByteBudget;
  /** The number of threads the budget was made for. */
  threads: number;
  /** Memory for the JavaScript objects of one thread. A thread that needs more is ended, and only its request fails. */
  heapMb: number;
  logger: Logger;
}

export interface LargeBody extends Omit<CaptureJob, 'type'> {
  lease: ByteLease;
  /** Told the key of the outermost object before anything is parsed; rejects to refuse the request. */
  checkKey(key: string): Promise<void>;
}

export interface LargePartsBody extends Omit<PartsJob, 'type'> {
  lease: ByteLease;
}

export interface LargeV1Body extends Omit<V1Job, 'type'> {
  lease: ByteLease;
}

/** Bodies that would keep the process too long, worked on in threads beside it. */
export interface LargeBodies {
  /**
   * Decodes a body and finds its events. Waits for a free thread; what waits is in the byte budget already.
   * @throws AppError as the steps do; `unavailable` when the thread was lost.
   */
  find(body: LargeBody): Promise<FoundRequest>;
  /** The same for an event in parts. */
  findInParts(body: LargePartsBody): Promise<FoundRequest>;
  /** The same for a body of Capture v1. */
  findV1(body: LargeV1Body): Promise<FoundV1>;
  stop(): Promise<void>;
}

interface Thread {
  number: number;
  worker: Worker | undefined;
  /** Ends the job in hand. */
  finish: ((error: Error | null) => void) | undefined;
  answer: (message: ThreadMessage) => void;
  idleTimer: NodeJS.Timeout | undefined;
}

/** A thread that has been idle for this time is ended and gives its memory back. */
const idleMs = 30_000;
/** No real body takes as long. */
const longestJobMs = 30_000;

export function createLargeBodies(options: LargeBodiesOptions): LargeBodies {
  const { program, budget, heapMb, logger } = options;
  const free: Thread[] = Array.from({ length: options.threads }, (_, index) => ({
    number: index + 1,
    worker: undefined,
    finish: undefined,
    answer: () => {},
    idleTimer: undefined,
  }));
  const all = [...free];
  const waiting: ((thread: Thread) => void)[] = [];

  function start(thread: Thread): Worker {
    const worker = new Worker(program, {
      // Not those of the parent, which load modules for the main thread.
      execArgv: [],
      workerData: { shares: budget.threads, thread: thread.number },
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
      name: 'body',
    });
    const lose = (error: unknown) => {
      if (thread.worker !== worker) return;
      thread.worker = undefined;
      if (thread.finish !== undefined) logger.warn('a thread for large bodies was lost and is replaced', { error });
      thread.finish?.(lostError(error));
    };
    worker.on('message', (message: ThreadMessage) => thread.answer(message));
    worker.on('error', lose);
    worker.on('exit', (code) => lose(new Error(`it ended with code ${code}`)));
    worker.unref();
    return worker;
  }

  /** Takes the thread that was used last, so that little work keeps few threads alive. */
  function take(): Promise<Thread> {
    const thread = free.pop();
    return thread === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(thread);
  }

  function release(thread: Thread): void {
    const next = waiting.shift();
    if (next !== undefined) {
      next(thread);
      return;
    }
    free.push(thread);
    thread.idleTimer = setTimeout(() => void end(thread), idleMs).unref();
  }

  async function end(thread: Thread): Promise<void> {
    const { worker, finish } = thread;
    thread.worker = undefined;
    await worker?.terminate();
    finish?.(lostError(null));
  }

  async function run(thread: Thread, job: BodyJob, { lease, checkKey }: Asking): Promise<Found> {
    clearTimeout(thread.idleTimer);
    thread.worker ??= start(thread);
    const { worker } = thread;
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
  function handOver({ number }: Thread, lease: ByteLease): void {
    lease.take(Atomics.exchange(budget.threads.heldKiB, number, 0) * 1024);
  }

  async function work(job: BodyJob, asking: Asking): Promise<Found> {
    const thread = await take();
    try {
      return await run(thread, job, asking);
    } finally {
      release(thread);
    }
  }

  return {
    async find({ lease, checkKey, ...body }) {
      return asCapture(await work({ type: 'capture', ...body }, { lease, checkKey }));
    },
    async findInParts({ lease, ...body }) {
      return asCapture(await work({ type: 'parts', ...body }, { lease, checkKey: neverAsked }));
    },
    async findV1({ lease, ...body }) {
      const found = await work({ type: 'v1', ...body }, { lease, checkKey: neverAsked });
      if (found.kind !== 'v1') throw new Error('A body thread found something else.');
      return found;
    },
    async stop() {
      for (const { idleTimer } of all) clearTimeout(idleTimer);
      await Promise.all(all.map(end));
    },
  };
}

function asCapture(found: Found): FoundRequest {
  if (found.kind !== 'capture') throw new Error('A body thread found something else.');
  return found;
}

/** Whose key it is was asked before. */
async function neverAsked(): Promise<void> {}

type Asking = Pick<LargeBody, 'lease' | 'checkKey'>;

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

function lostError(cause: unknown): AppError {
  return new AppError('unavailable', 'The body could not be worked on. Please send it again.', {
    code: 'body_thread_lost',
    retryAfterSeconds: 1,
    cause,
  });
}
