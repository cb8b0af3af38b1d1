import type { Client } from '../client/client.ts';
import type { IdentityParts } from './identity-parts.ts';

/** What the visitor belongs to: said with every event from then on. */
export function createGroups(parts: IdentityParts): Pick<Client, 'group' | 'getGroups' | 'resetGroups'> {
  const { client, store, person, signals, log, capture } = parts;
  const getGroups = () => ({ ...Object(store.get('$groups')) });
  return {
    getGroups,
    group(type, key, properties) {
      if (!type || !key) return log.error('group needs a type and a key');
      const isNew = getGroups()[type] !== key;
      store.set({ $groups: { ...getGroups(), [type]: key } });
      if (isNew) client.resetGroupPropertiesForFlags(type);
      if (!isNew && !properties) return;
      const event = { $group_type: type, $group_key: key, ...(properties && { $group_set: properties }) };
      if (person.hasProfile()) capture('$groupidentify', event);
      if (properties) client.setGroupPropertiesForFlags({ [type]: properties }, false);
      signals.emit('flagInput', undefined);
    },
    resetGroups() {
      store.set({ $groups: {} });
      client.resetGroupPropertiesForFlags();
      signals.emit('flagInput', undefined);
    },
  };
}
