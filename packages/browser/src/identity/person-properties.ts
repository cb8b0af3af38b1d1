import type { Client } from '../client/client.ts';
import type { Properties } from '../client/values.ts';
import { toPlain } from '../values/to-plain.ts';
import type { IdentityParts } from './identity-parts.ts';

export interface PersonProperties {
  members: Pick<Client, 'setPersonProperties' | 'unsetPersonProperties' | 'createPersonProfile'>;
  /** To flags and to the service, which the event makes identify the visitor where it says so. */
  tell(set?: Properties, once?: Properties, identified?: Properties): void;
  /** The same may be told again. */
  forget(): void;
}

export function createPersonProperties({ client, store, person, signals, capture }: IdentityParts): PersonProperties {
  let lastTold = '';
  const told = (set: Properties = {}, once: Properties = {}) =>
    JSON.stringify([store.get('distinct_id'), toPlain([set, once])]);
  const tell: PersonProperties['tell'] = (set = {}, once = {}, identified) => {
    client.setPersonPropertiesForFlags({ $set: set, $set_once: once }, false);
    const both = { $set: set, $set_once: once };
    const event = identified ? capture('$identify', identified, both) : capture('$set', both);
    if (event) lastTold = told(set, once);
  };
  const setPersonProperties: Client['setPersonProperties'] = (set, once) => {
    if (!(set || once) || !person.requireProfile('setPersonProperties') || lastTold === told(set, once)) return;
    tell(set, once);
    signals.emit('flagInput', undefined);
  };
  return {
    members: {
      setPersonProperties,
      unsetPersonProperties(names) {
        const wanted = [names].flat().filter((name) => typeof name === 'string' && name !== '');
        if (wanted.length === 0 || !person.requireProfile('unsetPersonProperties')) return;
        capture('$set', { $unset: wanted });
        lastTold = '';
        signals.emit('flagInput', undefined);
      },
      createPersonProfile() {
        if (!person.hasProfile()) setPersonProperties({}, {});
      },
    },
    tell,
    forget() {
      lastTold = '';
    },
  };
}
