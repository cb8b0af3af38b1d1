// Defines the client methods that every build has.

import type { Client } from '../client/client.ts';
import type { Core, Feature } from '../client/core.ts';
import type { Properties } from '../client/values.ts';
import type { EventParts } from '../event/event-parts.ts';
import { createIdentity } from '../identity.ts';
import type { ReadOptions } from '../options/default-options.ts';
import { attempt } from '../page/globals.ts';
import { createTabStorage } from '../storage/text-storage.ts';
import { toJson } from '../values.ts';
import type { Started } from './create-core.ts';

interface MemberParts {
  features: Feature[];
  readOptions: ReadOptions;
}

/** Returns all methods of a client that has started, including the methods of its features. */
export function createMembers({ core, parts }: Started, { features, readOptions }: MemberParts): Partial<Client> {
  const { client, capture, options, signals, sender, log } = core;
  const identity = createIdentity({ ...parts, client, capture });
  const own: Partial<Client> = {
    capture: capture as Client['capture'],
    on: (event, listener) => (event === 'eventCaptured' ? signals.on('captured', listener) : () => {}),
    ...identity,
    ...superPropertyMembers(parts),
    ...consentMembers(core, parts),
    get_session_id: () => parts.session.current().sessionId,
    onSessionId: parts.session.onSessionId,
    set_config(given) {
      const changed = readOptions(given, log);
      Object.assign(options, changed, { token: options.token });
      signals.emit('options', changed);
    },
    flush: sender.flush,
    async shutdown() {
      signals.emit('shutdown', undefined);
      await sender.flush();
    },
    debug(isOn = true) {
      options.debug = isOn;
    },
  };
  for (const feature of features) {
    try {
      Object.assign(own, feature(core));
    } catch (error) {
      // If a feature fails to start on a page, the other features still start.
      log.error(error);
    }
  }
  return own;
}

type ConsentMembers = Pick<
  Client,
  | 'opt_in_capturing'
  | 'opt_out_capturing'
  | 'has_opted_in_capturing'
  | 'has_opted_out_capturing'
  | 'get_explicit_consent_status'
  | 'clear_opt_in_out_capturing'
>;

function consentMembers({ capture }: Core, { consent }: EventParts): ConsentMembers {
  return {
    opt_in_capturing({ captureEventName = '$opt_in', captureProperties } = {}) {
      const wasGranted = consent.status() === 'granted';
      consent.set(true);
      if (!wasGranted && captureEventName) capture(captureEventName, captureProperties, { send_instantly: true });
    },
    opt_out_capturing: () => consent.set(false),
    has_opted_in_capturing: () => !consent.isOptedOut(),
    has_opted_out_capturing: consent.isOptedOut,
    get_explicit_consent_status: consent.status,
    clear_opt_in_out_capturing: consent.forget,
  };
}

/**
 * Creates the methods for super properties, which are added to every event. A super property belongs to the visitor,
 * the session or the tab.
 */
function superPropertyMembers({ options, store, tabStore, signals }: EventParts): Partial<Client> {
  const area = createTabStorage(options.persistence);
  const listName = `ph_${options.persistence_name || options.token}_session_registered_properties`;
  const names = () => [attempt(() => JSON.parse(area.read(listName) ?? '')) ?? []].flat() as string[];
  const forget = () => {
    tabStore.remove(...names());
    area.remove(listName);
  };
  signals.on('session', forget);

  return {
    register: (properties) => store.set(properties),
    register_once(properties: Properties, defaultValue = 'None') {
      const isMissing = ([name]: [string, unknown]) => [undefined, defaultValue].includes(store.get(name) as string);
      store.set(Object.fromEntries(Object.entries(Object(properties) as Properties).filter(isMissing)));
    },
    register_for_session(properties) {
      area.write(listName, toJson([...new Set([...names(), ...Object.keys(Object(properties))])]));
      tabStore.set(properties);
    },
    unregister: (name) => store.remove(name),
    unregister_for_session: (name) => tabStore.remove(name),
    get_property: (name) => store.get(name),
    getSessionProperty: (name) => tabStore.get(name),
  };
}
