import type { CaptureResult } from '../client/captured-event.ts';
import type { Answer, Core, Sender } from '../client/core.ts';

export type SenderParts = Pick<Core, 'token' | 'options' | 'store' | 'signals' | 'log' | 'url'>;

/** For now: keeps what is captured in memory for three seconds, and tries once. */
export function createSender({ token, options, signals, url }: SenderParts): Sender {
  let waiting: CaptureResult[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  const request: Sender['request'] = async (address, { method, body, timeoutMs } = {}) => {
    const answer: Answer = { status: 0, json: undefined };
    try {
      const response = await fetch(address, {
        method: method ?? (body ? 'POST' : 'GET'),
        ...(body && { body: JSON.stringify(body) }),
        ...(timeoutMs && { signal: AbortSignal.timeout(timeoutMs) }),
      });
      answer.status = response.status;
      answer.json = await response.json();
    } catch (error) {
      answer.isTimeout = (error as Error).name === 'TimeoutError';
    }
    return answer;
  };
  const bodyOf = (batch: CaptureResult[]) => ({ api_key: token, batch, sent_at: new Date().toISOString() });
  const flush = async () => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    const batch = waiting;
    waiting = [];
    await request(url('/i/v0/e/'), { body: bodyOf(batch) });
  };
  signals.on('leaving', () => {
    if (waiting.length > 0) navigator.sendBeacon(url('/i/v0/e/'), JSON.stringify(bodyOf(waiting)));
    waiting = [];
  });

  return {
    enqueue(event, { send_instantly }) {
      waiting.push(event);
      if (send_instantly || waiting.length >= options.flushAt) void flush();
      else timer ??= setTimeout(() => void flush(), 3000);
    },
    flush,
    request,
  };
}
