// Shares one stream of live events among all browser tabs, because browsers limit the number of open connections.

import { ApiProblem, type Query, sendRequest } from '../../api/request.ts';
import { createStreamParser, parseStreamMessage, type StreamMessage } from './messages.ts';

export type StreamState =
  | { kind: 'connecting' }
  | { kind: 'open' }
  | { kind: 'waiting'; seconds: number }
  /** This browser's other tabs already have the maximum number of streams open. */
  | { kind: 'crowded' }
  /** The server's error response, reduced to values that a `BroadcastChannel` can transfer. */
  | { kind: 'failed'; status: number; body: unknown };

type Shared = { from: StreamMessage } | { state: StreamState };

const longestWaitMs = 30_000;
/**
 * Maximum number of streams per browser, for all projects and filters together. Browsers open at most six connections
 * to a host, and pages also need connections for other requests.
 */
const maxStreams = 4;
const crowdedWaitMs = 2000;

/**
 * Shares one stream among all tabs of this browser with the same project and filters. The tab that holds the lock reads
 * the stream and broadcasts its messages to the other tabs. If that tab closes, another tab gets the lock.
 * @returns a function that leaves the stream
 */
export function joinLiveStream(
  path: string,
  query: Query,
  listener: { from: (from: StreamMessage) => void; state: (state: StreamState) => void },
): () => void {
  const name = `millrace-live ${path} ${JSON.stringify(query)}`;
  const leaving = new AbortController();
  const channel = new BroadcastChannel(name);
  const emit = (shared: Shared) => {
    if ('from' in shared) listener.from(shared.from);
    else listener.state(shared.state);
  };
  channel.onmessage = ({ data }: MessageEvent<Shared | 'state?'>) => data !== 'state?' && emit(data);
  const readAsLeader = async () => {
    let last: Shared = { state: { kind: 'connecting' } };
    const broadcast = (shared: Shared) => {
      if ('state' in shared) last = shared;
      channel.postMessage(shared);
      emit(shared);
    };
    channel.onmessage = ({ data }: MessageEvent<Shared | 'state?'>) => data === 'state?' && channel.postMessage(last);
    await takeSlot({ path, query, signal: leaving.signal, emit: broadcast });
  };
  listener.state({ kind: 'connecting' });
  channel.postMessage('state?');
  // The Locks API is not available on insecure origins, where each tab reads its own stream.
  const reading = navigator.locks
    ? navigator.locks.request(name, { signal: leaving.signal }, readAsLeader)
    : readAsLeader();
  reading.catch(() => {}).finally(() => channel.close());
  return () => leaving.abort();
}

interface Reading {
  path: string;
  query: Query;
  signal: AbortSignal;
  emit: (shared: Shared) => void;
}

/** Waits for a free stream slot, and then reads the stream. All tabs of this browser share the slots. */
async function takeSlot(reading: Reading): Promise<void> {
  if (!navigator.locks) return readWithRetries(reading);
  const { signal, emit } = reading;
  while (!signal.aborted) {
    for (let slot = 0; slot < maxStreams && !signal.aborted; slot += 1) {
      const name = `millrace-live-slot ${slot}`;
      const hasRead = await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
        if (lock) await readWithRetries(reading);
        return lock !== null;
      });
      if (hasRead) return;
    }
    emit({ state: { kind: 'crowded' } });
    await sleep(crowdedWaitMs, signal);
  }
}

/** Reconnects with increasing delays each time the stream ends. Stops only after an error that a retry cannot fix. */
async function readWithRetries({ path, query, signal, emit }: Reading): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    emit({ state: { kind: 'connecting' } });
    let error: unknown = null;
    try {
      await readOnce({ path, query, signal, emit });
      failures = 0;
    } catch (failure) {
      if (signal.aborted) return;
      error = failure;
      failures += 1;
    }
    const problem = error instanceof ApiProblem ? error : null;
    const { status = 0, retryAfterMs: retryAfter = null, body } = problem ?? {};
    if (status >= 400 && status < 500 && status !== 429) return emit({ state: { kind: 'failed', status, body } });
    const waitMs = retryAfter ?? Math.min(longestWaitMs, failures === 0 ? 200 : 1000 * 2 ** (failures - 1));
    if (error) emit({ state: { kind: 'waiting', seconds: Math.ceil(waitMs / 1000) } });
    await sleep(waitMs, signal);
  }
}

async function readOnce({ path, query, signal, emit }: Reading): Promise<void> {
  const response = await sendRequest({ path, query }, signal);
  emit({ state: { kind: 'open' } });
  const read = createStreamParser((name, data) => {
    const from = parseStreamMessage(name, data);
    if (from) emit({ from });
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const piece = await reader?.read();
    if (!piece || piece.done) return;
    read(piece.value);
  }
}

const sleep = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
