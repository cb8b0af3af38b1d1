import { createRequire } from 'node:module';

/**
 * Once a connection has had its first response, kafkajs 2.2.4 keeps a timer going on it that finds nothing to do and
 * sets itself again, with a negative delay, that is every millisecond: a process with a few idle connections spends
 * several percent of a core on it (and newer Nodes warn about the delay). The timer is only needed while requests wait
 * for a free place or for the end of a throttling; this says so to the class, once per process.
 */

interface RequestQueue {
  pending: unknown[];
  scheduleCheckPendingRequests(): void;
}

const modulePath = 'kafkajs/src/network/requestQueue/index.js';
const corrected = Symbol.for('millrace.event-log.request-queue-timer');

/** @throws Error when kafkajs is not the one this was written for. */
export function stopIdleRequestQueueTimer(): void {
  const { prototype }: { prototype: RequestQueue & { [corrected]?: true } } = createRequire(import.meta.url)(
    modulePath,
  );
  if (prototype[corrected]) return;
  const schedule = prototype.scheduleCheckPendingRequests;
  if (typeof schedule !== 'function') throw new Error(`${modulePath} has changed; its timer needs to be looked at.`);
  prototype.scheduleCheckPendingRequests = function scheduleWhenNeeded(this: RequestQueue) {
    if (this.pending.length > 0) schedule.call(this);
  };
  prototype[corrected] = true;
}
