import type { Core, Feature } from '../client/core.ts';
import { stopSignal } from '../page/stop-signal.ts';
import { createEventCapture } from './capture-event.ts';
import { clipboardEvents } from './capture-rules.ts';

const switchedOff = '$autocapture_disabled_server_side';

/** Captures clicks, changes and submits, from when the environment's settings are known and do not say otherwise. */
export const createAutocapture: Feature = (core) => {
  const signal = stopSignal(core);
  const captureEvent = createEventCapture(core);
  let isOff = true;
  let withElements = true;

  const listen = (event: Event) => {
    try {
      if (core.options.autocapture && !isOff) captureEvent(event, withElements);
    } catch (error) {
      core.log.error('autocapture', error);
    }
  };

  core.signals.on('remoteConfig', (config) => {
    withElements &&= !config?.elementsChainAsString;
    isOff = isSwitchedOff(core, config?.autocapture_opt_out);
    // Adding the same listener again changes nothing.
    for (const type of ['click', 'change', 'submit', ...clipboardEvents]) {
      document.addEventListener(type, listen, { capture: true, signal });
    }
  });
  return undefined;
};

/** As the service said last; where it was never heard, only an application that does not ask it gets autocapture. */
function isSwitchedOff({ store, options }: Core, answer: boolean | undefined): boolean {
  const known = store.get(switchedOff);
  if (answer === undefined) return typeof known === 'boolean' ? known : !options.advanced_disable_flags;
  if (answer !== known) store.set({ [switchedOff]: answer });
  return answer;
}
