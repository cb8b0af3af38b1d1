import type { Core, Feature } from '../client/core.ts';
import type { RemoteConfig } from '../client/remote-config.ts';
import { type ExceptionEntry, exceptionList, exceptionProperties } from './exception-list.ts';
import { createFloodLimit } from './flood-limit.ts';

/** `captureException`, and errors nobody caught when the application or the environment's settings ask for them. */
export const createExceptions: Feature = (core) => {
  captureUncaught(core);
  return {
    captureException(error, properties) {
      try {
        const list = exceptionList(error, true, new Error().stack);
        return core.capture('$exception', { ...exceptionProperties(list), ...properties });
      } catch (failure) {
        core.log.error('captureException', failure);
        return undefined;
      }
    },
  };
};

type Uncaught = ErrorEvent | PromiseRejectionEvent;

const mostWaiting = 10;

function captureUncaught({ signals, options, capture, log }: Core): void {
  const stop = new AbortController();
  const isLetThrough = createFloodLimit();
  /** Of the time before the settings are known: the first moments of a page are when it breaks. */
  let waiting: Uncaught[] | undefined = [];
  let isAsked = false;

  const listen = (event: Uncaught) => {
    if (options.capture_exceptions ?? isAsked) tell(event);
    else if (options.capture_exceptions === undefined && waiting && waiting.length < mostWaiting) waiting.push(event);
  };
  const tell = (event: Uncaught) => {
    try {
      const list = exceptionList(event, false);
      if (!isOfExtension(list) && isLetThrough(String(list[0]?.type))) capture('$exception', exceptionProperties(list));
    } catch (failure) {
      log.error('uncaught error', failure);
    }
  };

  addEventListener('error', listen, { signal: stop.signal });
  addEventListener('unhandledrejection', listen, { signal: stop.signal });
  signals.on('remoteConfig', (config) => {
    isAsked = isAskedBy(config) ?? isAsked;
    const events = waiting ?? [];
    waiting = undefined;
    events.forEach(listen);
  });
  signals.on('shutdown', () => stop.abort());
}

const isAskedBy = (config: RemoteConfig | null): boolean | undefined =>
  config?.errorTracking?.autocaptureExceptions ?? config?.autocaptureExceptions;

/** What a visitor added to the browser is not the application's. */
const isOfExtension = (list: ExceptionEntry[]): boolean =>
  list.some(({ stacktrace }) =>
    stacktrace?.frames.some(({ filename }) => /^(chrome|moz|safari|safari-web)-extension:/.test(filename)),
  );
