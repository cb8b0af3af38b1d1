// Sends events. Combines the queue, the delivery, timers and the page lifecycle.

import type { Core, Sender } from '../client/core.ts';
import { addDocumentListener, readFromDocument } from '../page/globals.ts';
import { toJson } from '../values.ts';
import { createEventDelivery, type Delivery, isPaused, msUntilNextRequest, type RetryState } from './delivery.ts';
import { createEventQueue, createEventRecords, type EventQueue, type QueuedEvent } from './queue.ts';
import { createEnvelope, sendBeacon, sendRequest } from './wire.ts';

type SenderParts = Pick<Core, 'token' | 'options' | 'store' | 'signals' | 'log' | 'url'>;

/**
 * Sends events without losing any. After `enqueue` returns, an event remains in storage until the service has accepted
 * it or the queue needs its space. This page or a later page sends the event, possibly twice. The service then stores
 * it only once, because it recognizes the UUID. Events sent by beacon also remain in storage, and the site's next page
 * sends them again. A page cannot learn the result of a beacon, so these events would otherwise be lost if the service
 * or the network is down.
 */
export function createEventSender(core: SenderParts): Sender {
  const { options, log } = core;
  /** Whether the page has been visible. Before that, a prerendered page stores and sends nothing. */
  let isSeen = false;
  let hasLeft = false;

  const records = createEventRecords(core);
  const queue = createEventQueue(records, log, () => isSeen);
  const retryState: RetryState = { failures: 0, pausedUntil: 0 };
  const envelope = createEnvelope(core);
  const delivery = createEventDelivery(core, envelope, { queue, retryState });
  const { schedule, flush, flushSoon } = createFlushTimer(core, { delivery, queue, retryState, isOpen: () => isSeen });
  const beacon = (events: QueuedEvent[]) => void sendBeacon(envelope.url(), events, envelope.wrap);

  const begin = () => {
    queue.keep();
    schedule();
  };
  const adopt = () => {
    if (isSeen && !hasLeft) records.adopt(queue.adopt, begin);
  };

  followPage({
    onSeen() {
      isSeen = true;
      begin();
      setTimeout(adopt);
    },
    async onHidden() {
      if (isSeen) await delivery.hurry();
      schedule();
    },
    onReturn() {
      hasLeft = false;
      adopt();
    },
    onOnline() {
      retryState.failures = 0;
      flush();
    },
    onTick: adopt,
  });

  function leave(): void {
    if (!isSeen) return;
    hasLeft = true;
    const isResting = isPaused(retryState);
    beacon(queue.leave().filter(({ name }) => !isResting || name === ''));
  }
  // Run after all other listeners have captured their final events.
  core.signals.on('leaving', () => queueMicrotask(leave));

  return {
    enqueue(event, { send_instantly: isInstant, transport }) {
      const queued = queue.add(event);
      if (!queued)
        return log.error(`${event.event} dropped: its properties cannot be converted to JSON, or exceed 1 MB`);
      const isUrgent = isInstant || transport || !options.request_batching || queue.count() >= options.flushAt;
      if (hasLeft) {
        beacon([queued]);
        queue.leave();
      } else if (isUrgent && retryState.failures === 0) flushSoon();
      else schedule();
    },
    flush,
    async request(url, { method, body, timeoutMs } = {}) {
      const packed = body && (await envelope.pack(toJson(body)));
      return sendRequest(core, url, { method: method ?? (body ? 'POST' : 'GET'), timeoutMs, body: packed });
    },
  };
}

interface PageLife {
  /** Called when the page is visible: immediately, or when the visitor opens a prerendered page. */
  onSeen(): void;
  /** Called when the page is hidden. This may be the page's last event, because it may never be visible again. */
  onHidden(): void;
  /** Called when the back or forward button has restored the page. */
  onReturn(): void;
  onOnline(): void;
  onTick(): void;
}

const tickMs = 10_000;

function followPage({ onSeen, onHidden, onReturn, onOnline, onTick }: PageLife): void {
  addEventListener('online', onOnline);
  addEventListener('pageshow', ({ persisted }) => persisted && onReturn());
  addDocumentListener('visibilitychange', () => readFromDocument('hidden') && onHidden());
  setInterval(onTick, tickMs);
  if (readFromDocument('prerendering' as 'hidden')) addDocumentListener('prerenderingchange', onSeen, { once: true });
  else onSeen();
}

interface FlushTimer {
  /**
   * Sends queued events some time after the first event was added. If the retry state requires a longer wait, sends them
   * after that wait.
   */
  schedule(): void;
  flush(): Promise<void>;
  /**
   * Sends queued events in a separate task, because compressing many events takes time, and the last event may come
   * from a click that the page must respond to.
   */
  flushSoon(): void;
}

interface FlushTimerParts {
  delivery: Delivery;
  queue: EventQueue;
  retryState: RetryState;
  /** Returns false while sending is not allowed. */
  isOpen(): boolean;
}

function createFlushTimer(
  { options }: Pick<Core, 'options'>,
  { delivery, queue, retryState, isOpen }: FlushTimerParts,
): FlushTimer {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isSoon = false;

  function schedule(): void {
    if (timer !== undefined || !isOpen() || queue.count() === 0) return;
    const { flush_interval_ms: ms = 3000 } = options.request_queue_config;
    const fire = () => {
      timer = undefined;
      flush();
    };
    timer = setTimeout(fire, Math.max(Math.min(Math.max(ms, 250), 5000), msUntilNextRequest(retryState)));
  }
  async function flush(): Promise<void> {
    if (isOpen()) await delivery.flush();
    schedule();
  }
  function flushSoon(): void {
    if (!isSoon) setTimeout(flushNow);
    isSoon = true;
  }
  function flushNow(): void {
    isSoon = false;
    flush();
  }
  return { schedule, flush, flushSoon };
}
