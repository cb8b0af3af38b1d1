import type { Log } from '../client/core.ts';
import { attempt, page } from '../page/globals.ts';

type Level = 'log' | 'warn' | 'error';

/** To the browser's console; a server's log is left alone. */
export function createLog(isDebug: () => boolean): Log {
  const write = (level: Level, what: unknown[]) => {
    // Pages that want silence take functions away.
    // biome-ignore lint/suspicious/noConsole: the one place that does
    attempt(() => page && console[level]('[Millrace]', ...what));
  };
  return {
    debug: (...what) => isDebug() && write('log', what),
    warn: (...what) => write('warn', what),
    error: (...what) => write('error', what),
  };
}
