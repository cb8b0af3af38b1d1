// Starts a process's components in order, and stops them in reverse order.

import type { Logger } from './logger.ts';

/** A component that can be stopped. `stop` resolves when the component has stopped, and can be called repeatedly. */
export interface Stoppable {
  stop(): Promise<void>;
}

export interface Lifecycle {
  /**
   * Registers a started component and returns it. If `stop` has already been called, which can happen during startup,
   * the component is stopped too.
   */
  own<T extends Stoppable>(name: string, part: T): T;
  /**
   * Stops all components, the newest first. If a component fails to stop, logs the error and continues with the next.
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
 * Runs one or more services in this process until SIGTERM or SIGINT, and then stops their components in reverse order.
 * The exit code is 1 if `start` fails, if `fail` is called, or if stopping takes longer than `drainTimeoutMs`. No other
 * code may handle signals or uncaught errors, or end the process.
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
    // The exit code is 1 even if a signal has already started the shutdown.
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
 * Replaces the signal listeners that were active while the program was loading. Adds the new listener before it removes
 * the old ones, because Node.js discards a pending signal if no listener exists.
 */
function hearInstead(signal: 'SIGTERM' | 'SIGINT', listener: () => void): void {
  const former = process.listeners(signal);
  process.on(signal, listener);
  for (const one of former) process.off(signal, one);
}
