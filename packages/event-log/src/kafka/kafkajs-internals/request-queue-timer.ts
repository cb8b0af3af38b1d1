import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

/**
 * Reason: once a connection has had its first response, kafkajs 2.2.4 keeps a timer going on it that finds nothing to do and
 * sets itself again, with a negative delay, that is every millisecond: a process with a few idle connections spends
 * several percent of a core on it (and newer Nodes warn about the delay). The timer is only needed while requests wait
 * to be sent, or for the end of a throttling; this says so to the class, once per process.
 * Relies on: the request queue's `pending` and `scheduleCheckPendingRequests`.
 * Witness: request-queue-timer.test.ts. If kafkajs changes, `stopIdleRequestQueueTimer` throws at start.
 * May go: when kafkajs fixes it (https://github.com/tulios/kafkajs/issues/1751).
 */

let isCorrected = false;

/** @throws Error when kafkajs is not the one this was written for. */
export function stopIdleRequestQueueTimer(): void {
  if (isCorrected) return;
  const { prototype } = RequestQueue;
  const schedule = prototype?.scheduleCheckPendingRequests;
  if (typeof schedule !== 'function') {
    throw new Error('kafkajs has changed its request queue; the timer in it needs to be looked at.');
  }
  prototype.scheduleCheckPendingRequests = function scheduleWhenNeeded(this: RequestQueue) {
    if (this.pending.length > 0) schedule.call(this);
  };
  isCorrected = true;
}
