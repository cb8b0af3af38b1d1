// Parses large request bodies in worker threads, which projects share fairly.

import type { IncomingMessage } from 'node:http';
import { Worker } from 'node:worker_threads';
import { AppError, type Logger } from '@millrace/runtime';
import { isKnownKey } from '../access/authorize.ts';
import type { ProjectKeys } from '../access/project-keys.ts';
import type { ByteBudget } from '../body/byte-budget.ts';
import { findClientAddress } from '../request-head.ts';
import type { ThreadMessage } from './messages.ts';

export interface BodyThread<Result> {
  /** The thread's number in the byte budget. */
  number: number;
  worker: Worker | undefined;
  idleTimer: NodeJS.Timeout | undefined;
  start(): Worker;
  onMessage: (message: ThreadMessage<Result>) => void;
  onLost: ((error: Error) => void) | undefined;
}

/** A pool of threads. Starts a thread when a body is waiting, and ends it when it has been idle for a while. */
export interface BodyThreads<Result> {
  /**
   * Waits for a free thread. Owners take turns. Prefers the thread that was released last, so that few threads keep
   * running under low load.
   */
  take(ownerId: string): Promise<BodyThread<Result>>;
  release(thread: BodyThread<Result>): void;
  stop(): Promise<void>;
}

/** After this time, an idle thread is stopped to free its memory. */
const idleMs = 30_000;

export function createBodyThreads<Result>({
  program,
  budget,
  numbers,
  heapMb,
  logger,
}: {
  program: URL;
  budget: ByteBudget;
  numbers: readonly number[];
  heapMb: number;
  logger: Logger;
}): BodyThreads<Result> {
  const all = numbers.map(createThread);
  const free = [...all];
  const waiting = createFairQueue<(thread: BodyThread<Result>) => void>();

  function createThread(number: number): BodyThread<Result> {
    const thread: BodyThread<Result> = {
      number,
      worker: undefined,
      onMessage: () => {},
      onLost: undefined,
      idleTimer: undefined,
      start() {
        clearTimeout(thread.idleTimer);
        thread.worker ??= startWorker(thread);
        return thread.worker;
      },
    };
    return thread;
  }

  function startWorker(thread: BodyThread<Result>): Worker {
    const worker = new Worker(program, {
      // Pass no Node.js options: the parent's options load modules that only the main thread needs.
      execArgv: [],
      workerData: { shares: budget.threads, thread: thread.number },
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
      name: 'body',
    });
    const onExit = (error: unknown) => {
      if (thread.worker !== worker) return;
      thread.worker = undefined;
      if (thread.onLost !== undefined)
        logger.warn('a thread for large bodies exited unexpectedly; starting a new one', { error });
      thread.onLost?.(lostError(error));
    };
    worker.on('message', (message: ThreadMessage<Result>) => thread.onMessage(message));
    worker.on('error', onExit);
    worker.on('exit', (code) => onExit(new Error(`the thread exited with code ${code}`)));
    worker.unref();
    return worker;
  }

  async function end(thread: BodyThread<Result>): Promise<void> {
    const { worker, onLost } = thread;
    thread.worker = undefined;
    await worker?.terminate();
    onLost?.(lostError(null));
  }

  return {
    take(ownerId) {
      const thread = free.pop();
      return thread === undefined ? new Promise((resolve) => waiting.add(ownerId, resolve)) : Promise.resolve(thread);
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

function lostError(cause: unknown): AppError {
  return new AppError('unavailable', 'The body could not be processed. Retry the request.', {
    code: 'body_thread_lost',
    retryAfterSeconds: 1,
    cause,
  });
}

export interface BodyOwner {
  /** Bodies with and without a known key use separate threads. */
  isKnownKey: boolean;
  /** The ID of the owner: the API key, or the client's IP address. */
  id: string;
}

/**
 * Finds the owner of a body by the API key in its URL, its headers or its first bytes. The owner only determines which
 * queue the body waits in. After decompression, the gateway reads and checks the key as usual, because the SDKs for
 * Python and PHP send the key last.
 */
export async function findBodyOwner(
  request: IncomingMessage,
  keys: readonly (string | null)[],
  { projectKeys, trustProxy }: { projectKeys: ProjectKeys; trustProxy: boolean },
): Promise<BodyOwner> {
  const { authorization, 'x-posthog-project-api-key': keyHeader } = request.headers;
  const bearer = /^Bearer\s+(\S+)$/i.exec(authorization?.trim() ?? '')?.[1] ?? null;
  for (const key of new Set([...keys, bearer, typeof keyHeader === 'string' ? keyHeader : null])) {
    if (key !== null && (await isKnownKey(key, projectKeys))) return { isKnownKey: true, id: key.trim() };
  }
  return { isKnownKey: false, id: findClientAddress(request, { trustProxy }) ?? '' };
}

/** A queue in which owners take turns. Each owner's items stay in order. */
interface FairQueue<T> {
  add(ownerId: string, item: T): void;
  next(): T | undefined;
}

function createFairQueue<T>(): FairQueue<T> {
  const waiting = new Map<string, T[]>();
  return {
    add(ownerId, item) {
      const items = waiting.get(ownerId);
      if (items === undefined) waiting.set(ownerId, [item]);
      else items.push(item);
    },
    next() {
      const [first] = waiting;
      if (first === undefined) return undefined;
      const [ownerId, items] = first;
      const item = items.shift();
      // Delete and reinsert the owner to move it to the end of the map.
      waiting.delete(ownerId);
      if (items.length > 0) waiting.set(ownerId, items);
      return item;
    },
  };
}
