import type { Core } from '../client/core.ts';
import { stopSignal } from '../page/globals.ts';

type Uncaught = ErrorEvent | PromiseRejectionEvent;

const mostWaiting = 10;

interface Follower {
  tell(event: Uncaught): void;
  /** The settings ask for errors: there may be some. */
  onWanted?(): void;
}

/** Hears of errors nobody caught when the application or the environment's settings ask for them. */
export function followUncaughtErrors(core: Core, { tell, onWanted }: Follower): void {
  const { signals, options, log } = core;
  /** Errors from before the settings are known: the first moments of a page are when it breaks. */
  let waiting: Uncaught[] | undefined = [];
  let isAsked: boolean | undefined;

  /** Of an object, what is named in it. */
  const isWanted = (what: 'errors' | 'rejections') => {
    const asked = options.capture_exceptions ?? isAsked;
    return typeof asked === 'object' ? asked[`capture_unhandled_${what}`] : asked;
  };

  const listen = (event: Uncaught) => {
    const wanted = isWanted(event.type === 'error' ? 'errors' : 'rejections');
    if (wanted === undefined && waiting && waiting.length < mostWaiting) waiting.push(event);
    if (!wanted) return;
    try {
      tell(event);
    } catch (error) {
      log.error('uncaught error', error);
    }
  };

  const signal = stopSignal(core);
  addEventListener('error', listen, { signal });
  addEventListener('unhandledrejection', listen, { signal });
  signals.on('remoteConfig', (config) => {
    isAsked = config?.errorTracking?.autocaptureExceptions ?? config?.autocaptureExceptions ?? isAsked;
    if (isWanted('errors') || isWanted('rejections')) onWanted?.();
    waiting?.splice(0).forEach(listen);
    waiting = undefined;
  });
}
