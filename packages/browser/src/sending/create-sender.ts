import type { Core, Sender } from '../client/core.ts';
import { attempt } from '../page/globals.ts';
import { toJson } from '../values/to-json.ts';
import { ask } from './ask.ts';
import { createDelivery } from './delivery.ts';
import { createEnvelope } from './envelope.ts';
import { createEventQueue, type QueuedEvent } from './event-queue.ts';
import { createEventRecords } from './event-records.ts';
import { createFlushTimer } from './flush-timer.ts';
import { followPage } from './follow-page.ts';
import { isPaused, type Pace } from './pace.ts';
import { sendBeacon } from './send-beacon.ts';

export type SenderParts = Pick<Core, 'token' | 'options' | 'store' | 'signals' | 'log' | 'url'>;

/**
 * Sends events without losing one. When `enqueue` returns, an event lies in storage, until the service has taken it or
 * others need its room. Whoever finds it there sends it, this page or a later one, maybe once more: to the service its uuid
 * makes that one event.
 *
 * What a beacon took therefore stays in storage too, and the next page of the site sends it again. Nobody hears what
 * became of a beacon: to a service that was out, or from a train in a tunnel, it would be lost.
 */
export function createSender(core: SenderParts): Sender {
  const { options, log } = core;
  /** A page that is loaded ahead may never be seen: until then it keeps and sends nothing. */
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
  // Once all others have captured their last events.
  core.signals.on('leaving', () => queueMicrotask(leave));

  return {
    enqueue(event, { send_instantly: isInstant, transport }) {
      const queued = attempt(() => queue.add(event));
      if (!queued) return log.error(`${event.event} is dropped: its properties are no JSON, or more than 1 MB`);
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
      return ask(core, url, { method: method ?? (body ? 'POST' : 'GET'), timeoutMs, body: packed });
    },
  };
}
