import type { Feature } from '../client/core.ts';
import { stopSignal } from '../page/stop-signal.ts';
import { type ExceptionEvent, exceptionEvent } from './exception-event.ts';
import { createFloodLimit } from './flood-limit.ts';

type Uncaught = ErrorEvent | PromiseRejectionEvent;

const mostWaiting = 10;

/** Captures errors nobody caught when the application or the environment's settings ask for them. */
export const createUncaughtErrors: Feature = ({ signals, options, capture, log }) => {
  const isLetThrough = createFloodLimit();
  /** Of the time before the settings are known: the first moments of a page are when it breaks. */
  let waiting: Uncaught[] | undefined = [];
  let isAsked: boolean | undefined;

  const listen = (event: Uncaught) => {
    const wanted = options.capture_exceptions ?? isAsked;
    if (wanted) tell(event);
    else if (wanted === undefined && waiting && waiting.length < mostWaiting) waiting.push(event);
  };
  const tell = (event: Uncaught) => {
    try {
      const properties = exceptionEvent(event, false);
      if (isOfExtension(properties) || !isLetThrough(String(properties.$exception_list[0]?.type))) return;
      capture('$exception', properties);
    } catch (error) {
      log.error('uncaught error', error);
    }
  };

  const signal = stopSignal({ signals });
  addEventListener('error', listen, { signal });
  addEventListener('unhandledrejection', listen, { signal });
  signals.on('remoteConfig', (config) => {
    isAsked = config?.errorTracking?.autocaptureExceptions ?? config?.autocaptureExceptions ?? isAsked;
    waiting?.splice(0).forEach(listen);
    waiting = undefined;
  });
  return undefined;
};

/** What a visitor added to the browser is not the application's. */
const isOfExtension = ({ $exception_list }: ExceptionEvent): boolean =>
  $exception_list.some(({ stacktrace }) =>
    stacktrace?.frames.some(({ filename }) => /^[a-z-]+-extension:/.test(filename)),
  );
