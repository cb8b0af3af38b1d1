// Starts a process's components in order, and stops them in reverse order.

import type { Logger } from './logger.ts';

/** A component that can be stopped. `stop` can be called several times, and resolves when the component has stopped. */
export interface Stoppable {
  stop(): Promise<void>;
}

export interface Lifecycle {
  /**
   * Registers a part that was started, and returns it. Parts are stopped in reverse order. A part that is registered
   * during or after stopping, because a signal arrived during startup, is stopped too.
   */
  own<T extends Stoppable>(name: string, part: T): T;
  /**
   * Stops everything, starting with the newest part. If a part fails to stop, the error is logged and the remaining
   * parts are stopped.
   */
  stop(): Promise<void>;
}

export function createLifecycle(logger: Logger): Lifecycle {
  const parts: { name: string; part: Stoppable }[] = [];
  let stopping: Promise<void> | undefined;

  async function stopAll(): Promise<void> {
    for (let last = parts.pop(); last; last = parts.pop()) await stopPart(last);
  }

  async function stopPart({ name, part }: { name: string; part: Stoppable }): Promise<void> {
    try {
      await part.stop();
    } catch (error) {
      logger.error('component failed to stop', { component: name, error });
    }
  }

  return {
    own(name, part) {
      parts.push({ name, part });
      if (stopping !== undefined) stopping = stopping.then(stopAll);
      return part;
    },
    stop: () => {
      stopping ??= stopAll();
      return stopping;
    },
  };
}

/**
 * Runs one or more services in this process until SIGTERM or SIGINT. `start` registers parts in the lifecycle, which
 * are stopped in reverse order. The exit code is 1 if the start fails, if `fail` is called, or if stopping takes longer
 * than `drainTimeoutMs`. No other code may handle signals or uncaught errors, or end the process.
 */
export async function runProcess(
  logger: Logger,
  drainTimeoutMs: number,
  start: (lifecycle: Lifecycle, fail: (error: Error) => void) => Promise<void>,
): Promise<void> {
  const lifecycle = createLifecycle(logger);
  let exitCode = 0;
  let isStopping = false;

  const stop = async () => {
    if (isStopping) return;
    isStopping = true;
    const timer = setTimeout(() => {
      logger.error('stopping took longer than DRAIN_TIMEOUT_MS; exiting', { drainTimeoutMs });
      process.exit(1);
    }, drainTimeoutMs);
    await lifecycle.stop();
    clearTimeout(timer);
    logger.info('stopped');
    process.exit(exitCode);
  };
  const fail = (error: Error) => {
    logger.error('fatal error; stopping the service', { error });
    // If an error occurs during the shutdown after a signal, the exit code is also 1.
    exitCode = 1;
    void stop();
  };

  for (const signal of ['SIGTERM', 'SIGINT'] as const) hearInstead(signal, () => void stop());
  process.on('unhandledRejection', (reason) => fail(reason instanceof Error ? reason : new Error(String(reason))));
  process.on('uncaughtException', fail);
  try {
    await start(lifecycle, fail);
  } catch (error) {
    fail(error instanceof Error ? error : new Error(String(error)));
  }
}

/**
 * Replaces the signal listeners that were active while the program was loading. Adds the new listener before removing
 * the old ones, because Node.js discards a pending signal if no listener exists.
 */
function hearInstead(signal: 'SIGTERM' | 'SIGINT', listener: () => void): void {
  const former = process.listeners(signal);
  process.on(signal, listener);
  for (const one of former) process.off(signal, one);
}
