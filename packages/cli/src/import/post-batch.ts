import { setTimeout as sleep } from 'node:timers/promises';
import { describeBody, describeNetworkError, parseObject } from '../answer-words.ts';
import { ImportStopped } from './import-stopped.ts';

export type Posted =
  | { kind: 'accepted' }
  /** Something in it cannot be taken: too large, or not well-formed. Fewer events may pass. */
  | { kind: 'refused'; reason: string };

export interface PostOptions {
  /** Full address of the batch route. */
  url: string;
  /** Without progress for this long, it is given up. */
  patienceMs: number;
  signal: AbortSignal;
  /** Told before every wait. */
  onWait(reason: string, waitMs: number): void;
}

const firstWaitMs = 500;
const longestWaitMs = 30_000;
const answerTimeoutMs = 60_000;

/**
 * Sends one batch, again for as long as the host cannot take it: the one owner of retries. Sending it twice is harmless,
 * every event has its uuid.
 * @throws ImportStopped when the host refuses the import as such (key, plan, address), or stays away.
 */
export async function postBatch(body: string, { url, patienceMs, signal, onWait }: PostOptions): Promise<Posted> {
  const deadline = Date.now() + patienceMs;
  for (let attempt = 0; ; attempt += 1) {
    const answer = await postOnce(url, body, signal);
    if (answer.kind !== 'busy') return answer;
    const ownWaitMs = Math.min(firstWaitMs * 2 ** attempt, longestWaitMs);
    const waitMs = Math.max(answer.retryAfterMs, ownWaitMs * (0.75 + Math.random() / 2));
    if (Date.now() + waitMs > deadline) {
      throw new ImportStopped(`--host: ${new URL(url).origin} refuses events: ${answer.reason}`);
    }
    onWait(answer.reason, waitMs);
    await sleep(waitMs, undefined, { signal });
  }
}

type Answer = Posted | { kind: 'busy'; reason: string; retryAfterMs: number };

async function postOnce(url: string, body: string, signal: AbortSignal): Promise<Answer> {
  let response: Response;
  let text: string;
  const attempt = new AbortController();
  const abort = () => attempt.abort();
  const timer = setTimeout(() => attempt.abort(new DOMException('', 'TimeoutError')), answerTimeoutMs);
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
  throw new ImportStopped(`${option}: ${new URL(url).origin} answered ${reason}`);
}

/** A 200 that says events were left out because of a quota is no success. */
function readAcceptance(text: string): Answer {
  const limited = (parseObject(text).quota_limited ?? []) as unknown;
  if (!Array.isArray(limited) || !limited.includes('events')) return { kind: 'accepted' };
  throw new ImportStopped("the project's quota of events is used up; nothing more is taken");
}

/** Seconds, or a date (RFC 9110 10.2.3). */
function readRetryAfter(value: string | null): number {
  if (value === null) return 0;
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}
