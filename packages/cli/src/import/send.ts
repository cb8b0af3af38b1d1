// Sends an import's events in batches, with retries, and finds the events that the host rejects.

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ImportStopped } from '../failures.ts';
import { describeBody, describeNetworkError, parseObject } from '../http.ts';
import { addUuid, checkLine, describeFault, type Fault, type Line, type Rejections, readLines } from './lines.ts';
import type { ImportSource } from './source.ts';

/**
 * An event that may be larger than this is sent in its own request. If it is too large for the log, the ingest host
 * then rejects it, and the import can report it. From a batch, the host would drop the event with only a warning.
 */
const largeEventBytes = 256_000;

interface SendOptions {
  /** The position in the file, in bytes, before which everything has already been imported. */
  fromOffset: number;
  batchEvents: number;
  batchBytes: number;
  maxLineBytes: number;
  envelope: Envelope;
  /** Whether to skip events that the host rejects. If false, the first rejected event stops the import. */
  skipInvalid: boolean;
  rejections: Rejections;
  /** Called after every batch and at the end, with the position before which everything has been imported. */
  onDone(point: { offset: number; line: number; sha256: string; events: number }): void;
}

/**
 * Sends a file's valid events, one batch at a time. Requests are not concurrent, because a migration's events are
 * processed in the order in which they arrive.
 * @throws ImportStopped, and the errors of `Envelope.post`
 */
export async function sendFile(source: ImportSource, options: SendOptions): Promise<void> {
  const hash = createHash('sha256');
  let batch: Item[] = [];
  let bytes = 0;
  let last: Line | undefined;

  async function flush(): Promise<void> {
    if (last === undefined) return;
    const faults = await sendBatch(batch, options.envelope);
    for (const fault of faults) {
      if (!options.skipInvalid) throw new ImportStopped(`Import stopped at ${describeFault(fault)}`);
      options.rejections.add(fault);
    }
    options.onDone({
      offset: last.endOffset,
      line: last.number,
      sha256: hash.copy().digest('hex'),
      events: batch.length - faults.length,
    });
    batch = [];
    bytes = 0;
    last = undefined;
  }

  for await (const lines of readLines(source.read(), options.maxLineBytes)) {
    for (const line of lines) {
      const item = line.endOffset > options.fromOffset ? toItem(line) : null;
      const size = item === null ? 0 : sizeInBatch(item, options.batchBytes);
      if (batch.length > 0 && (batch.length >= options.batchEvents || bytes + size > options.batchBytes)) await flush();
      for (const part of line.raw) hash.update(part);
      if (line.endOffset > options.fromOffset) last = line;
      if (item === null) continue;
      batch.push(item);
      bytes += size;
    }
  }
  await flush();
}

/** Returns how many bytes an event contributes to a batch. A large event counts as a full batch. */
function sizeInBatch({ text }: Item, batchBytes: number): number {
  const bytes = Buffer.byteLength(text);
  return bytes > largeEventBytes ? batchBytes : bytes;
}

/**
 * Converts a line to an item to send. Returns null for a blank or invalid line. `checkFile` has already reported the
 * invalid ones.
 */
function toItem(line: Line): Item | null {
  const checked = checkLine(line);
  if (checked.kind !== 'event') return null;
  return { line: line.number, text: addUuid(checked.event, checked.text, line.number) };
}

interface Item {
  line: number;
  /** The event's JSON text, including the UUID. */
  text: string;
}

interface Envelope {
  projectApiKey: string;
  post(body: string): Promise<Posted>;
}

/**
 * Sends events in order. If the host rejects a batch, splits it in half until the rejected event is found, so that all
 * other events are accepted. This works for any size limit of the host.
 * @returns the events that the host rejected individually
 */
async function sendBatch(items: readonly Item[], envelope: Envelope): Promise<Fault[]> {
  if (items.length === 0) return [];
  const posted = await envelope.post(toBody(items, envelope.projectApiKey));
  if (posted.kind === 'accepted') return [];
  const [first] = items;
  if (first && items.length === 1) return [{ line: first.line, field: null, reason: `refused: ${posted.reason}` }];
  const middle = Math.ceil(items.length / 2);
  const faults = await sendBatch(items.slice(0, middle), envelope);
  return [...faults, ...(await sendBatch(items.slice(middle), envelope))];
}

/**
 * Joins the events' JSON texts into a body. Does not parse and serialize the events, which could change large numbers.
 */
function toBody(items: readonly Item[], projectApiKey: string): string {
  const head = `{"api_key":${JSON.stringify(projectApiKey)},"historical_migration":true,"batch":[`;
  return `${head}${items.map(({ text }) => text).join(',')}]}`;
}

type Posted =
  | { kind: 'accepted' }
  /** The host rejected the body as too large or malformed. It may accept a smaller batch. */
  | { kind: 'refused'; reason: string };

interface PostOptions {
  url: string;
  /** Total time limit for all attempts, in milliseconds. */
  patienceMs: number;
  signal: AbortSignal;
  onWait(reason: string, waitMs: number): void;
}

const firstWaitMs = 500;
const longestWaitMs = 30_000;
const responseTimeoutMs = 60_000;

/**
 * Sends one batch, and retries while the host is unavailable. All retries of an import happen here. Repeating a batch
 * is safe, because every event has a uuid.
 * @throws ImportStopped if the host rejects the whole import (because of its key, plan or IP address) or stays
 * unavailable
 */
export async function postBatch(body: string, { url, patienceMs, signal, onWait }: PostOptions): Promise<Posted> {
  const deadline = Date.now() + patienceMs;
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await postOnce(url, body, signal);
    if (outcome.kind !== 'busy') return outcome;
    const ownWaitMs = Math.min(firstWaitMs * 2 ** attempt, longestWaitMs);
    const waitMs = Math.max(outcome.retryAfterMs, ownWaitMs * (0.75 + Math.random() / 2));
    if (Date.now() + waitMs > deadline) {
      throw new ImportStopped(`--host: ${new URL(url).origin} does not accept events (${outcome.reason})`);
    }
    onWait(outcome.reason, waitMs);
    await sleep(waitMs, undefined, { signal });
  }
}

type AttemptOutcome = Posted | { kind: 'busy'; reason: string; retryAfterMs: number };

async function postOnce(url: string, body: string, signal: AbortSignal): Promise<AttemptOutcome> {
  let response: Response;
  let text: string;
  const attempt = new AbortController();
  const abort = () => attempt.abort();
  const timer = setTimeout(() => attempt.abort(new DOMException('', 'TimeoutError')), responseTimeoutMs);
  signal.addEventListener('abort', abort);
  try {
    signal.throwIfAborted();
    response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'millrace-import' },
      body,
      redirect: 'manual',
      signal: attempt.signal,
    });
    text = await response.text();
  } catch (error) {
    signal.throwIfAborted();
    return { kind: 'busy', reason: describeNetworkError(error), retryAfterMs: 0 };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
  const { status, headers } = response;
  if (status === 200) return readAcceptance(text);
  const reason = `${status}${describeBody(text)}`;
  if (status === 400 || status === 413) return { kind: 'refused', reason };
  if (status === 408 || status === 429 || status >= 500) {
    return { kind: 'busy', reason, retryAfterMs: readRetryAfter(headers.get('retry-after')) };
  }
  const option = status === 401 || status === 403 ? '--project-api-key' : '--host';
  throw new ImportStopped(`${option}: ${new URL(url).origin} responded with ${reason}`);
}

/**
 * Reads a 200 response. It can say that the quota is used up, in which case events were dropped.
 * @throws ImportStopped if the quota is used up
 */
function readAcceptance(text: string): AttemptOutcome {
  const limited = (parseObject(text).quota_limited ?? []) as unknown;
  if (!Array.isArray(limited) || !limited.includes('events')) return { kind: 'accepted' };
  throw new ImportStopped("The project's event quota is used up, so no more events are accepted");
}

/** Converts `Retry-After`, which is a number of seconds or a date (RFC 9110, section 10.2.3), to milliseconds. */
function readRetryAfter(value: string | null): number {
  if (value === null) return 0;
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}
