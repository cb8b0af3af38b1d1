import type { Client } from '../client/client.ts';
import type { Properties } from '../client/values.ts';
import type { EventParts } from '../event/event-parts.ts';
import { attempt } from '../page/globals.ts';
import { tabArea } from '../storage/areas.ts';
import { toJson } from '../values/to-json.ts';

/** Properties that are sent with every event from now on: the visitor's, or until the session ends or the tab closes. */
export function superPropertyMembers({ options, store, tabStore, signals }: EventParts): Partial<Client> {
  const area = tabArea(options.persistence);
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
