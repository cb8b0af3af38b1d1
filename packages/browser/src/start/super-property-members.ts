import type { Client } from '../client/client.ts';
import type { Properties } from '../client/values.ts';
import type { EventParts } from '../event/event-parts.ts';

type SuperPropertyMembers = Pick<
  Client,
  | 'register'
  | 'register_once'
  | 'register_for_session'
  | 'unregister'
  | 'unregister_for_session'
  | 'get_property'
  | 'getSessionProperty'
>;

/** Properties that are sent with every event from now on: the visitor's, or until this session of the tab ends. */
export function superPropertyMembers({ store, tabStore }: EventParts): SuperPropertyMembers {
  return {
    register: (properties) => store.set(objectOf(properties)),
    register_once(properties, defaultValue = 'None') {
      const missing = Object.entries(objectOf(properties)).filter(([name]) => {
        const known = store.get(name);
        return known === undefined || known === defaultValue;
      });
      store.set(Object.fromEntries(missing));
    },
    register_for_session: (properties) => tabStore.set(objectOf(properties)),
    unregister: (name) => store.remove(name),
    unregister_for_session: (name) => tabStore.remove(name),
    get_property: (name) => store.get(name),
    getSessionProperty: (name) => tabStore.get(name),
  };
}

function objectOf(properties: unknown): Properties {
  return typeof properties === 'object' && properties !== null ? (properties as Properties) : {};
}
