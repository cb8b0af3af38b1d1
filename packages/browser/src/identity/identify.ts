import type { Client } from '../client/client.ts';
import { checkId } from './check-id.ts';
import type { IdentityParts } from './identity-parts.ts';
import type { PersonProperties } from './person-properties.ts';

/** Only an anonymous visitor is merged with who they turn out to be; a known one is followed by another. */
export function createIdentify(parts: IdentityParts, { members, tell }: PersonProperties): Client['identify'] {
  const { store, person, signals, log } = parts;
  return (given, set, once) => {
    const id = checkId(given, log);
    if (id === undefined || !person.requireProfile('identify')) return;
    const before = store.get('distinct_id');
    const isAnonymous = !person.isIdentified();
    const isOther = id !== before;
    store.set({
      $user_id: id,
      ...(!store.get('$device_id') && { $had_persisted_distinct_id: true, $device_id: before }),
    });
    if (isOther && id !== store.get('__alias')) {
      store.remove('__alias');
      store.set({ distinct_id: id });
    }
    if (!isAnonymous) members.setPersonProperties(set, once);
    else {
      store.set({ $user_state: 'identified' });
      tell(set, once, isOther ? { distinct_id: id, $anon_distinct_id: before } : undefined);
    }
    const merged = isAnonymous && typeof before === 'string' && { anonymousDistinctId: before };
    if (isOther) signals.emit('identity', { distinctId: id, ...merged });
    else if (isAnonymous && (set || once)) signals.emit('flagInput', undefined);
  };
}

export function createAlias(parts: IdentityParts, identify: Client['identify']): Client['alias'] {
  const { store, person, log, capture } = parts;
  return (alias, original) => {
    if (!person.requireProfile('alias')) return undefined;
    const from = original ?? store.get('distinct_id');
    if (alias === from) {
      log.warn('alias: this is the distinct id already');
      identify(alias);
      return -1;
    }
    store.set({ __alias: alias });
    return capture('$create_alias', { alias, distinct_id: from });
  };
}
