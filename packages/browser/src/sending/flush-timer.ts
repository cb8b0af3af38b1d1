import type { Core } from '../client/core.ts';
import type { Delivery } from './delivery.ts';
import type { EventQueue } from './event-queue.ts';
import { type Pace, restMs } from './pace.ts';

export interface FlushTimer {
  /** Sends what is queued some time after its first event, or when the next attempt makes sense. */
  schedule(): void;
  flush(): Promise<void>;
  /** In a task of its own: to pack many events takes its time, and what captured the last of them may be a click. */
  flushSoon(): void;
}

interface FlushTimerParts {
  delivery: Delivery;
  queue: EventQueue;
  pace: Pace;
  /** False: nothing may be sent. */
  isOpen(): boolean;
}

export function createFlushTimer(
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
