import type { Core } from '../client/core.ts';

/** Ends what listens to the page when the client is shut down. */
export function stopSignal({ signals }: Pick<Core, 'signals'>): AbortSignal {
  const stop = new AbortController();
  signals.on('shutdown', () => stop.abort());
  return stop.signal;
}
