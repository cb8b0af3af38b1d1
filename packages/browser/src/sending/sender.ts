// Sends events by combining the queue, the delivery, timers and the lifecycle of the page.

import type { Core, Sender } from '../client/core.ts';
import { onDocument, readFromDocument } from '../page/globals.ts';
import { toJson } from '../values.ts';
import { createDelivery, type Delivery, isPaused, msUntilNextRequest, type Pace } from './delivery.ts';
import { createEventQueue, createEventRecords, type EventQueue, type QueuedEvent } from './queue.ts';
import { createEnvelope, sendBeacon, sendRequest } from './wire.ts';

type SenderParts = Pick<Core, 'token' | 'options' | 'store' | 'signals' | 'log' | 'url'>;

/**
 * Sends events without losing any. After `enqueue` returns, an event is in storage until the service has accepted it or
 * the space is needed. This page or a later one sends it, possibly twice. The service then recognizes its UUID and
 * stores it once. Events sent by beacon also stay in storage, and the next page of the site sends them again. The
 * result of a beacon is unknown, so these events would otherwise be lost if the service or the network is down.
 */
export function createSender(core: SenderParts): Sender {
  const { options, log } = core;
  /** A prerendered page may never be shown. It stores and sends nothing until it is. */
  let isSeen = false;
  let hasLeft = false;

  const records = createEventRecords(core);
  const queue = createEventQueue(records, log, () => isSeen);
  const pace: Pace = { failures: 0, pausedUntil: 0 };
  const envelope = createEnvelope(core);
  const delivery = createDelivery(core, envelope, { queue, pace });
  const { schedule, flush, flushSoon } = createFlushTimer(core, { delivery, queue, pace, isOpen: () => isSeen });
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
      pace.failures = 0;
      flush();
    },
    onTick: adopt,
  });

  function leave(): void {
    if (!isSeen) return;
    hasLeft = true;
    const isResting = isPaused(pace);
    beacon(queue.leave().filter(({ name }) => !isResting || name === ''));
  }
  // This runs after all other listeners have captured their last events.
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
      } else if (isUrgent && pace.failures === 0) flushSoon();
      else schedule();
    },
    flush,
    async request(url, { method, body, timeoutMs } = {}) {
      const packed = body && (await envelope.pack(toJson(body)));
      return sendRequest(core, url, { method: method ?? (body ? 'POST' : 'GET'), timeoutMs, body: packed });
    },
  };
}

/** The events in the life of a page that matter for sending. */
interface PageLife {
  /** Called when the page is visible. This is immediately, or for a prerendered page when it is opened. */
  onSeen(): void;
  /** Called when the page is hidden. It may never be shown again, and this may be the last event of its life. */
  onHidden(): void;
  /** Called when the back or forward button has restored the page. */
  onReturn(): void;
  onOnline(): void;
  /** Called periodically. */
  onTick(): void;
}

const tickMs = 10_000;

function followPage({ onSeen, onHidden, onReturn, onOnline, onTick }: PageLife): void {
  addEventListener('online', onOnline);
  addEventListener('pageshow', ({ persisted }) => persisted && onReturn());
  onDocument('visibilitychange', () => readFromDocument('hidden') && onHidden());
  setInterval(onTick, tickMs);
  if (readFromDocument('prerendering' as 'hidden')) onDocument('prerenderingchange', onSeen, { once: true });
  else onSeen();
}

interface FlushTimer {
  /** Sends queued events some time after the first one was added, or later if the pace requires it. */
  schedule(): void;
  flush(): Promise<void>;
  /**
   * Sends queued events in a separate task, because compressing many events takes time, and a click may have captured
   * the last one.
   */
  flushSoon(): void;
}

interface FlushTimerParts {
  delivery: Delivery;
  queue: EventQueue;
  pace: Pace;
  /** Returns false while nothing may be sent. */
  isOpen(): boolean;
}

function createFlushTimer(
  { options }: Pick<Core, 'options'>,
  { delivery, queue, pace, isOpen }: FlushTimerParts,
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
    timer = setTimeout(fire, Math.max(Math.min(Math.max(ms, 250), 5000), msUntilNextRequest(pace)));
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
