import type { IncomingMessage } from 'node:http';
import { Worker } from 'node:worker_threads';
import { AppError, type Logger } from '@millrace/runtime';
import { isKnownKey } from '../access/authorize.ts';
import type { ProjectKeys } from '../access/project-keys.ts';
import type { ByteBudget } from '../body/byte-budget.ts';
import { clientAddress } from '../head.ts';
import type { ThreadMessage } from './body-job.ts';

export interface BodyThread {
  number: number;
  worker: Worker | undefined;
  /** Ends the job in hand. */
  finish: ((error: Error | null) => void) | undefined;
  answer: (message: ThreadMessage) => void;
  idleTimer: NodeJS.Timeout | undefined;
}

/** Threads that are started when there is work for them, and ended when there was none for a while. */
export interface BodyThreads {
  /** Waits for a free one, in turn with other subjects. The longest idle is taken last, so that few threads are kept alive by little work. */
  take(subject: string): Promise<BodyThread>;
  /** Makes a taken one run, if it does not. */
  start(thread: BodyThread): Worker;
  release(thread: BodyThread): void;
  stop(): Promise<void>;
}

/** A thread that has been idle for this time is ended and gives its memory back. */
const idleMs = 30_000;

export function createBodyThreads({
  program,
  budget,
  numbers,
  heapMb,
  logger,
}: {
  program: URL;
  budget: ByteBudget;
  /** Numbers of the threads in the budget. */
  numbers: readonly number[];
  heapMb: number;
  logger: Logger;
}): BodyThreads {
  const all = numbers.map(
    (number): BodyThread => ({
      number,
      worker: undefined,
      finish: undefined,
      answer: () => {},
      idleTimer: undefined,
    }),
  );
  const free = [...all];
  const waiting = createTurnQueue<(thread: BodyThread) => void>();

  function startWorker(thread: BodyThread): Worker {
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
      if (thread.finish !== undefined)
        logger.warn('a thread for large bodies exited unexpectedly; starting a new one', { error });
      thread.finish?.(lostError(error));
    };
    worker.on('message', (message: ThreadMessage) => thread.answer(message));
    worker.on('error', lose);
    worker.on('exit', (code) => lose(new Error(`the thread exited with code ${code}`)));
    worker.unref();
    return worker;
  }

  return {
    take(subject) {
      const thread = free.pop();
      return thread === undefined ? new Promise((resolve) => waiting.add(subject, resolve)) : Promise.resolve(thread);
    },
    start(thread) {
      clearTimeout(thread.idleTimer);
      thread.worker ??= startWorker(thread);
      return thread.worker;
    },
    release(thread) {
      const next = waiting.next();
      if (next !== undefined) {
        next(thread);
        return;
      }
      free.push(thread);
      thread.idleTimer = setTimeout(() => void end(thread), idleMs).unref();
    },
    async stop() {
      for (const { idleTimer } of all) clearTimeout(idleTimer);
      await Promise.all(all.map(end));
    },
  };
}

async function end(thread: BodyThread): Promise<void> {
  const { worker, finish } = thread;
  thread.worker = undefined;
  await worker?.terminate();
  finish?.(lostError(null));
}

function lostError(cause: unknown): AppError {
  return new AppError('unavailable', 'The body could not be processed. Retry the request.', {
    code: 'body_thread_lost',
    retryAfterSeconds: 1,
    cause,
  });
}

/** Where a body waits: in the lane of known keys, or in that of bodies whose key is not known before they are unpacked. */
export interface Turn {
  isKnown: boolean;
  /** The key, or the address it came from. */
  subject: string;
}

/**
 * The turn of a body by the keys that stand in its address, its head or its first bytes. They only say where it waits. Its
 * key is looked for and checked as in every other body once it is unpacked: SDKs for Python and PHP send it last.
 */
export async function findTurn(
  request: IncomingMessage,
  keys: readonly (string | null)[],
  { projectKeys, trustProxy }: { projectKeys: ProjectKeys; trustProxy: boolean },
): Promise<Turn> {
  const { authorization, 'x-posthog-project-api-key': named } = request.headers;
  const bearer = /^Bearer\s+(\S+)$/i.exec(authorization?.trim() ?? '')?.[1] ?? null;
  for (const key of new Set([...keys, bearer, typeof named === 'string' ? named : null])) {
    if (key !== null && (await isKnownKey(key, projectKeys))) return { isKnown: true, subject: key.trim() };
  }
  const address = clientAddress(request.headers, request.socket.remoteAddress, trustProxy);
  return { isKnown: false, subject: address ?? '' };
}

/** What waits for a thread. */
interface TurnQueue<T> {
  add(subject: string, item: T): void;
  /** Undefined when nothing waits. */
  next(): T | undefined;
}

/** All subjects take turns, and what waits of one keeps its order. */
function createTurnQueue<T>(): TurnQueue<T> {
  const waiting = new Map<string, T[]>();
  return {
    add(subject, item) {
      const items = waiting.get(subject);
      if (items === undefined) waiting.set(subject, [item]);
      else items.push(item);
    },
    next() {
      const [first] = waiting;
      if (first === undefined) return undefined;
      const [subject, items] = first;
      const item = items.shift();
      // To the end of the line.
      waiting.delete(subject);
      if (items.length > 0) waiting.set(subject, items);
      return item;
    },
  };
}
