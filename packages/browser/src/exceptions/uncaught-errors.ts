import type { Core } from '../client/core.ts';
import { createStopSignal } from '../page/globals.ts';

type Uncaught = ErrorEvent | PromiseRejectionEvent;

const maxWaiting = 10;

interface Follower {
  tell(event: Uncaught): void;
  /** Called when the settings turn error capture on, so that the code for capturing errors can be loaded in advance. */
  onWanted?(): void;
}

/** Observes uncaught errors if the application or the environment's settings turn on error capture. */
export function observeUncaughtErrors(core: Core, { tell, onWanted }: Follower): void {
  const { signals, options, log } = core;
  /** Errors that occurred before the settings were loaded. Many errors happen while a page starts. */
  let waiting: Uncaught[] | undefined = [];
  let isEnabledRemotely: boolean | undefined;

  /** If the setting is an object, only the kinds of errors set to true are captured. */
  const isWanted = (what: 'errors' | 'rejections') => {
    const setting = options.capture_exceptions ?? isEnabledRemotely;
    return typeof setting === 'object' ? setting[`capture_unhandled_${what}`] : setting;
  };

  const listen = (event: Uncaught) => {
    const wanted = isWanted(event.type === 'error' ? 'errors' : 'rejections');
    if (wanted === undefined && waiting && waiting.length < maxWaiting) waiting.push(event);
    if (!wanted) return;
    try {
      tell(event);
    } catch (error) {
      log.error('uncaught error', error);
    }
  };

  const signal = createStopSignal(core);
  addEventListener('error', listen, { signal });
  addEventListener('unhandledrejection', listen, { signal });
  signals.on('remoteConfig', (config) => {
    isEnabledRemotely =
      config?.errorTracking?.autocaptureExceptions ?? config?.autocaptureExceptions ?? isEnabledRemotely;
    if (isWanted('errors') || isWanted('rejections')) onWanted?.();
    waiting?.splice(0).forEach(listen);
    waiting = undefined;
  });
}
