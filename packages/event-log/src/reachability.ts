// Tracks whether the event log responds, and logs each change.

import type { Logger } from '@millrace/runtime';

const probeIntervalMs = 1000;

export interface Reachability {
  isHealthy(): boolean;
  succeeded(): void;
  /** Reports a failure. Then probes the log until it responds, so that health recovers even without traffic. */
  failed(error: unknown): void;
  stop(): void;
}

export function createReachability(
  logger: Logger,
  isHealthyAtFirst: boolean,
  probe: () => Promise<void>,
): Reachability {
  let isHealthy = isHealthyAtFirst;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  function scheduleProbe(): void {
    if (isStopped || timer !== undefined) return;
    timer = setTimeout(async () => {
      try {
        await probe();
        succeeded();
      } catch (error) {
        logger.debug('event log is still not responding', { error });
      }
      timer = undefined;
      if (!isHealthy) scheduleProbe();
    }, probeIntervalMs);
    timer.unref();
  }

  function succeeded(): void {
    if (!isHealthy) logger.info('event log is responding');
    isHealthy = true;
  }

  return {
    isHealthy: () => isHealthy,
    succeeded,
    failed(error) {
      if (isHealthy && !isStopped) logger.warn('event log is not responding', { error });
      isHealthy = false;
      scheduleProbe();
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
