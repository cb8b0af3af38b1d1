import type { Client } from '../client/client.ts';
import type { Core } from '../client/core.ts';
import type { CaptureResult, Properties } from '../client/values.ts';
import { attempt } from '../page/globals.ts';
import type { ReadException } from './read-exception.ts';
import { observeUncaughtErrors } from './uncaught-errors.ts';

/**
 * Captures errors with code that is loaded on demand. Until the code is loaded, each error is a pending event with its
 * original time. When the visitor leaves the page, all pending events are captured.
 * @param load a function that loads the code; if its promise rejects, errors are captured with minimal details
 */
export function createDeferredExceptions(
  core: Core,
  load: () => Promise<ReadException>,
): Pick<Client, 'captureException'> {
  let read: ReadException | undefined;
  let isBegun = false;
  let waiting: ((by: ReadException) => void)[] = [];

  const tellWaiting = (by: ReadException) => {
    const all = waiting;
    waiting = [];
    for (const tell of all) attempt(() => tell(by));
  };
  const begin = async () => {
    if (isBegun) return;
    isBegun = true;
    read = await load().catch(() => readShortly);
    tellWaiting(read);
  };
  const capture = (thrown: unknown, handled: boolean, more?: Properties): CaptureResult | undefined => {
    const capturedAt = handled ? new Error().stack : undefined;
    if (read) {
      const properties = read(thrown, handled, capturedAt);
      return properties && core.client.capture('$exception', { ...properties, ...more });
    }
    const finish = core.begin('$exception', more);
    if (!finish) return undefined;
    waiting.push((by) => {
      const properties = by(thrown, handled, capturedAt);
      if (properties) finish({ ...properties, ...more });
    });
    begin();
    return undefined;
  };

  core.signals.on('leaving', () => tellWaiting(readShortly));
  observeUncaughtErrors(core, { onWanted: begin, tell: (event) => capture(event, false) });
  return { captureException: (error, properties) => capture(error, true, properties) };
}

const readShortly: ReadException = (thrown, handled) => {
  const { error, reason } = Object(thrown) as { error?: unknown; reason?: unknown };
  const { name = 'Error', message = thrown } = Object(error ?? reason ?? thrown) as Partial<Error>;
  const mechanism = { type: 'generic', handled, synthetic: false, exception_id: 0 };
  return { $exception_list: [{ type: String(name), value: String(message), mechanism }], $exception_level: 'error' };
};
