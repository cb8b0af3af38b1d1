// Manages the visitor's identity: the initial anonymous ID, identify, alias, reset, person properties, groups, and
// changes in other tabs.

import type { Client, Options } from './client/client.ts';
import type { Core, Emitter, Log, Store } from './client/core.ts';
import type { Bootstrap } from './client/options.ts';
import type { Properties } from './client/values.ts';
import type { EventParts } from './event/event-parts.ts';
import { page } from './page/globals.ts';
import { readIdleMs } from './session.ts';
import type { WholeStore } from './storage/store.ts';
import { newUuid, toJsonValue } from './values.ts';

export function createIdentity(parts: IdentityParts): Partial<Client> {
  const properties = createPersonProperties(parts);
  const identify = createIdentify(parts, properties);
  return {
    identify,
    alias: createAlias(parts, identify),
    reset: createReset(parts, properties.forget),
    ...createGroups(parts),
    ...properties.members,
    get_distinct_id: () => parts.store.get('distinct_id') as string,
  };
}

/** Includes the client for its flag methods, which some builds do not have. */
interface IdentityParts extends EventParts {
  client: Client;
  capture: Core['capture'];
}

/**
 * Creates `identify`, which merges an anonymous visitor into the new identity, but replaces a visitor who is already
 * identified.
 */
function createIdentify(parts: IdentityParts, { members, tell }: PersonProperties): Client['identify'] {
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

function createAlias(parts: IdentityParts, identify: Client['identify']): Client['alias'] {
  const { store, person, log, capture } = parts;
  return (alias, original) => {
    if (!person.requireProfile('alias')) return undefined;
    const from = original ?? store.get('distinct_id');
    if (alias === from) {
      log.warn('alias: this is already the distinct ID');
      identify(alias);
      return -1;
    }
    store.set({ __alias: alias });
    return capture('$create_alias', { alias, distinct_id: from });
  };
}

/** IDs that are probably mistakes. Identifying with them would merge many visitors into one person. */
const mistakes = ['undefined', 'null', 'distinct_id', 'distinctid', '$posthog_cookieless'];

/** Returns the ID as a string. If the ID is not valid, logs an error and returns undefined. */
function checkId(given: unknown, log: Log): string | undefined {
  const id = typeof given === 'number' ? String(given) : given;
  if (typeof given === 'number') log.warn('identify: the ID should be a string');
  if (typeof id === 'string' && id.trim() !== '' && !mistakes.includes(id.toLowerCase())) return id;
  log.error('identify: not a valid distinct ID:', given);
  return undefined;
}

interface How {
  resetDeviceID?: boolean;
  bootstrap?: Bootstrap;
}

/** Creates `reset`, which starts a new visitor in this browser. Only the device ID is kept. */
function createReset(parts: IdentityParts, forgetPerson: () => void): Client['reset'] {
  const { options, store, tabStore, session, consent, signals, log } = parts;
  const firstBootstrap = options.bootstrap;
  return (how) => {
    const { resetDeviceID, bootstrap }: How = typeof how === 'boolean' ? { resetDeviceID: how } : (how ?? {});
    const [device, model] = [store.get('$device_id'), store.get('$device_model')];
    const wasOptedOut = consent.isOptedOut();
    consent.forget();
    if (!wasOptedOut && consent.isOptedOut())
      log.warn('reset cleared the consent: opt_out_capturing_by_default applies');
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

interface PersonProperties {
  members: Pick<Client, 'setPersonProperties' | 'unsetPersonProperties' | 'createPersonProfile'>;
  /**
   * Sets person properties for flag requests and in the service. With `identified`, the event also identifies the
   * visitor.
   */
  tell(set?: Properties, once?: Properties, identified?: Properties): void;
  /** Forgets which properties were sent, so that setting the same properties again sends them again. */
  forget(): void;
}

function createPersonProperties({ client, store, person, signals, capture }: IdentityParts): PersonProperties {
  let lastSent = '';
  const toKey = (set: Properties = {}, once: Properties = {}) =>
    JSON.stringify([store.get('distinct_id'), toJsonValue([set, once])]);
  const tell: PersonProperties['tell'] = (set = {}, once = {}, identified) => {
    client.setPersonPropertiesForFlags({ $set: set, $set_once: once }, false);
    const both = { $set: set, $set_once: once };
    const event = identified ? capture('$identify', identified, both) : capture('$set', both);
    if (event) lastSent = toKey(set, once);
  };
  const setPersonProperties: Client['setPersonProperties'] = (set, once) => {
    if (!(set || once) || !person.requireProfile('setPersonProperties') || lastSent === toKey(set, once)) return;
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
        lastSent = '';
        signals.emit('flagInput', undefined);
      },
      createPersonProfile() {
        if (!person.hasProfile()) setPersonProperties({}, {});
      },
    },
    tell,
    forget() {
      lastSent = '';
    },
  };
}

/** Manages the visitor's groups, which are added to every event. */
function createGroups(parts: IdentityParts): Pick<Client, 'group' | 'getGroups' | 'resetGroups'> {
  const { client, store, person, signals, log, capture } = parts;
  const getGroups = () => ({ ...Object(store.get('$groups')) });
  return {
    getGroups,
    group(type, key, properties) {
      if (!type || !key) return log.error('group requires a type and a key');
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

/**
 * Gives a new visitor an ID, unless the application provides one. The ID is also the device ID. Returns the ID to pass
 * to `identify` after all features have started, if the visitor is anonymous.
 */
export function initializeVisitor(options: Options, store: Store, log: Log): string | null | undefined {
  const { distinctID: given, isIdentifiedID } = options.bootstrap;
  const [known, device] = [store.get('distinct_id'), store.get('$device_id')];
  const isIdentified = store.get('$user_state') === 'identified';
  const start = { $initialization_time: new Date().toISOString(), $configured_session_timeout_ms: readIdleMs(options) };
  if (known && (!given || (isIdentifiedID && given !== known))) {
    store.set(start);
    if (given && isIdentified) log.warn('bootstrap.distinctID ignored: call reset() first, another user is identified');
    return isIdentified ? undefined : given;
  }
  const id = newDeviceId(options, log);
  store.set({
    ...start,
    distinct_id: given || id,
    $device_id: given && !isIdentifiedID ? given : (known && device) || id,
    $user_state: given && isIdentifiedID ? 'identified' : 'anonymous',
  });
  return undefined;
}

/**
 * Creates an ID with the application's hook. If the hook fails, returns a UUID, because the service does not store
 * events without an ID.
 */
function newDeviceId({ get_device_id }: Options, log: Log): string {
  const made = newUuid();
  try {
    const id: unknown = get_device_id(made);
    if (typeof id === 'string' && id) return id;
    log.error('get_device_id failed', id);
  } catch (error) {
    log.error('get_device_id failed', error);
  }
  return made;
}

/** Emits a signal when another tab has changed the visitor's identity, which all tabs share. */
export function observeOtherTabs({ name, get }: WholeStore, signals: Emitter): void {
  let known = get('distinct_id');
  const learn = () => {
    const former = known;
    known = get('distinct_id');
    return known !== former;
  };
  signals.on('identity', learn);
  signals.on('reset', learn);
  page?.addEventListener('storage', ({ key }) => {
    if (key === name && learn()) signals.emit('otherTab', undefined);
  });
}
