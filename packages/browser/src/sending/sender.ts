// Combines queue, delivery, timers and page lifecycle to send events.

import type { Core, Sender } from '../client/core.ts';
import { ofDocument, onDocument } from '../page/globals.ts';
import { toJson } from '../values.ts';
import { createDelivery, type Delivery, isPaused, type Pace, restMs } from './delivery.ts';
import { createEventQueue, createEventRecords, type EventQueue, type QueuedEvent } from './queue.ts';
import { createEnvelope, sendBeacon, sendRequest } from './wire.ts';

type SenderParts = Pick<Core, 'token' | 'options' | 'store' | 'signals' | 'log' | 'url'>;

/**
 * Sends events without losing any. When `enqueue` returns, an event is in storage until the service has accepted it or
 * the space is needed. This page or a later one sends it, possibly twice; the service deduplicates it by UUID.
 * Events sent by beacon also stay in storage, and the next page of the site sends them again. A beacon's outcome is
 * unknown, so during an outage of the service or the network the events would otherwise be lost.
 */
export function createSender(core: SenderParts): Sender {
  const { options, log } = core;
  /** A prerendered page may never be shown, so it stores and sends nothing until then. */
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
  // Runs after all other listeners have captured their last events.
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

/** Page lifecycle events that matter for sending. */
interface PageLife {
  /** The page is visible: immediately, or when a prerendered page is opened. */
  onSeen(): void;
  /** The page is hidden. It may never be shown again, and no further event may follow. */
  onHidden(): void;
  /** The page was restored by the back or forward button. */
  onReturn(): void;
  onOnline(): void;
  /** Called periodically. */
  onTick(): void;
}

const tickMs = 10_000;

function followPage({ onSeen, onHidden, onReturn, onOnline, onTick }: PageLife): void {
  addEventListener('online', onOnline);
  addEventListener('pageshow', ({ persisted }) => persisted && onReturn());
  onDocument('visibilitychange', () => ofDocument('hidden') && onHidden());
  setInterval(onTick, tickMs);
  if (ofDocument('prerendering' as 'hidden')) onDocument('prerenderingchange', onSeen, { once: true });
  else onSeen();
}

interface FlushTimer {
  /** Sends queued events some time after the first one, or when the next attempt makes sense. */
  schedule(): void;
  flush(): Promise<void>;
  /** Runs in a separate task: compressing many events takes time, and a click may have captured the last one. */
  flushSoon(): void;
}

interface FlushTimerParts {
  delivery: Delivery;
  queue: EventQueue;
  pace: Pace;
  /** False while nothing may be sent. */
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
    timer = setTimeout(fire, Math.max(Math.min(Math.max(ms, 250), 5000), restMs(pace)));
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
