import type { Logger } from './logger.ts';

/** Anything with a lifetime. `stop` is idempotent and resolves when nothing of it is left running. */
export interface Stoppable {
  stop(): Promise<void>;
}

export interface Lifecycle {
  /**
   * Registers what was just started; stopped in reverse order. Returns the same thing, for one-line wiring.
   * What is started while others are being stopped, or later (the start was overtaken by a signal), is stopped too.
   */
  own<T extends Stoppable>(name: string, part: T): T;
  /** Stops everything, newest first. A component that fails to stop is logged and the others are still stopped. */
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
 * Makes this process a service, or several, until SIGTERM or SIGINT: `start` registers its components in the lifecycle, they are
 * stopped in reverse. Exit code 1 when the start fails, when `fail` is called, or when stopping takes longer than
 * `drainTimeoutMs`. Nobody else hears signals, catches what nobody caught, or ends the process.
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
    // Also when it happens while stopping after a signal.
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
 * Hears a signal from now on in place of whoever heard it while the program was still being read in. In this order: Node forgets a
 * signal that has come and was not passed on yet when nobody is left who listens.
 */
function hearInstead(signal: 'SIGTERM' | 'SIGINT', listener: () => void): void {
  const former = process.listeners(signal);
  process.on(signal, listener);
  for (const one of former) process.off(signal, one);
}
