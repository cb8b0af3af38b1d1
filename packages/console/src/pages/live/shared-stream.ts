import { ApiProblem, ask, type Query } from '../../api/request.ts';
import { createFrameReader, type FromStream, readFrame } from './messages.ts';

export type StreamState =
  | { kind: 'connecting' }
  | { kind: 'open' }
  | { kind: 'waiting'; seconds: number }
  /** Other tabs have as many streams open as this browser may. */
  | { kind: 'crowded' }
  /** What the server answered: all that a channel can carry of it. */
  | { kind: 'failed'; status: number; body: unknown };

type Shared = { from: FromStream } | { state: StreamState };

const longestWaitMs = 30_000;
/** Of one browser, for whatever projects and filters: it opens six connections to a host, and pages have questions beside. */
const mostStreams = 4;
const crowdedWaitMs = 2000;

/**
 * One stream for all tabs of this browser that show the same project with the same filters: the tab that holds the lock reads it, the others
 * are told. When it leaves, the next one takes over.
 * @returns leaves the stream
 */
export function joinStream(
  path: string,
  query: Query,
  hear: { from: (from: FromStream) => void; state: (state: StreamState) => void },
): () => void {
  const name = `millrace-live ${path} ${JSON.stringify(query)}`;
  const leaving = new AbortController();
  const channel = new BroadcastChannel(name);
  const tell = (shared: Shared) => {
    if ('from' in shared) hear.from(shared.from);
    else hear.state(shared.state);
  };
  channel.onmessage = ({ data }: MessageEvent<Shared | 'state?'>) => data !== 'state?' && tell(data);
  const lead = async () => {
    let last: Shared = { state: { kind: 'connecting' } };
    const both = (shared: Shared) => {
      if ('state' in shared) last = shared;
      channel.postMessage(shared);
      tell(shared);
    };
    channel.onmessage = ({ data }: MessageEvent<Shared | 'state?'>) => data === 'state?' && channel.postMessage(last);
    await takeSlot({ path, query, signal: leaving.signal, tell: both });
  };
  hear.state({ kind: 'connecting' });
  channel.postMessage('state?');
  // Without locks (a page that is no secure context) each tab reads for itself.
  const reading = navigator.locks ? navigator.locks.request(name, { signal: leaving.signal }, lead) : lead();
  reading.catch(() => {}).finally(() => channel.close());
  return () => leaving.abort();
}

interface Reading {
  path: string;
  query: Query;
  signal: AbortSignal;
  tell: (shared: Shared) => void;
}

/** Reads once one of the places for streams is free. */
async function takeSlot(reading: Reading): Promise<void> {
  if (!navigator.locks) return readForever(reading);
  const { signal, tell } = reading;
  while (!signal.aborted) {
    for (let slot = 0; slot < mostStreams && !signal.aborted; slot += 1) {
      const name = `millrace-live-slot ${slot}`;
      const hasRead = await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
        if (lock) await readForever(reading);
        return lock !== null;
      });
      if (hasRead) return;
    }
    tell({ state: { kind: 'crowded' } });
    await sleep(crowdedWaitMs, signal);
  }
}

/** Connects again after each end, a little later each time; gives up only where trying again cannot help. */
async function readForever({ path, query, signal, tell }: Reading): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    tell({ state: { kind: 'connecting' } });
    let error: unknown = null;
    try {
      await readOnce({ path, query, signal, tell });
      failures = 0;
    } catch (failure) {
      if (signal.aborted) return;
      error = failure;
      failures += 1;
    }
    const problem = error instanceof ApiProblem ? error : null;
    const { status = 0, retryAfterMs: asked = null, body } = problem ?? {};
    if (status >= 400 && status < 500 && status !== 429) return tell({ state: { kind: 'failed', status, body } });
    const waitMs = asked ?? Math.min(longestWaitMs, failures === 0 ? 200 : 1000 * 2 ** (failures - 1));
    if (error) tell({ state: { kind: 'waiting', seconds: Math.ceil(waitMs / 1000) } });
    await sleep(waitMs, signal);
  }
}

async function readOnce({ path, query, signal, tell }: Reading): Promise<void> {
  const response = await ask({ path, query }, signal);
  tell({ state: { kind: 'open' } });
  const read = createFrameReader((name, data) => {
    const from = readFrame(name, data);
    if (from) tell({ from });
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
