import type { Client } from '../client/client.ts';
import type { Bootstrap } from '../client/options.ts';
import type { IdentityParts } from './identity-parts.ts';
import { newDeviceId } from './new-device-id.ts';

interface How {
  resetDeviceID?: boolean;
  bootstrap?: Bootstrap;
}

/** The next visitor on this device: nothing of the last one stays but the device itself. */
export function createReset(parts: IdentityParts, forgetPerson: () => void): Client['reset'] {
  const { options, store, tabStore, session, consent, signals, log } = parts;
  const firstBootstrap = options.bootstrap;
  return (how) => {
    const { resetDeviceID, bootstrap }: How = typeof how === 'boolean' ? { resetDeviceID: how } : (how ?? {});
    const [device, model] = [store.get('$device_id'), store.get('$device_model')];
    const wasOptedOut = consent.isOptedOut();
    consent.forget();
    if (!wasOptedOut && consent.isOptedOut())
      log.warn('reset forgot the consent: by opt_out_capturing_by_default nothing is captured');
    store.clear();
    tabStore.clear();
    forgetPerson();
    const id = newDeviceId(options, log);
    store.set({
      distinct_id: bootstrap?.distinctID || id,
      $device_id: resetDeviceID ? id : device,
      ...(!resetDeviceID && model !== undefined && { $device_model: model }),
      $user_state: bootstrap?.distinctID && bootstrap.isIdentifiedID ? 'identified' : 'anonymous',
      $last_posthog_reset: new Date().toISOString(),
    });
    session.reset(bootstrap?.sessionID);
    options.bootstrap = bootstrap ?? firstBootstrap;
    signals.emit('reset', undefined);
  };
}
