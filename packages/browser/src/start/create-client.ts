import type { Client, InitOptions, Options } from '../client/client.ts';
import type { Core, Feature, Log } from '../client/core.ts';
import { libraryVersion } from '../client/library-version.ts';
import type { Properties, Property } from '../client/values.ts';
import { page } from '../page/globals.ts';
import { createCore } from './create-core.ts';
import { createLog } from './create-log.ts';
import { createEarlySubscriptions } from './early-subscriptions.ts';
import { memberNames, subscriptionNames } from './member-names.ts';
import { membersOf } from './members.ts';
import { type OptionsParts, optionsOfInit } from './options-of-init.ts';

type Member = (...args: unknown[]) => unknown;

export interface ClientParts extends OptionsParts {
  features: Feature[];
  /** Members that do not need `init`. */
  always?: (client: Client) => Partial<Client>;
}

interface ClientState {
  options: Options;
  members?: Partial<Client>;
  settle?: Core['settle'];
}

/** A client that waits for `init`. Its members are there from the beginning, and none ever throws. */
export function createClient(parts: ClientParts): Client {
  const state: ClientState = { options: {} as Options };
  const log = createLog(() => state.options.debug);
  const early = createEarlySubscriptions();
  const named: Record<string, Client> = {};

  const call = (name: string, args: unknown[]): unknown => {
    const { members, settle } = state;
    settle?.();
    if (!members && subscriptionNames.includes(name)) return early.add(name, args);
    const member = (members ?? always)?.[name as keyof Client] as Member | undefined;
    if (member) return guarded(name, member, log)(...args);
    if (!members) return log.error(`You must initialize PostHog before calling posthog.${name}`);
    return log.debug(`posthog.${name} is not part of this build`);
  };

  const start = (token: unknown, given?: InitOptions): Client => {
    if (state.members) log.warn('You have already initialized PostHog');
    const options = state.members ? undefined : optionsOfInit(parts, token, given, log);
    if (!options) return client;
    state.options = options;
    // A server renders with the options' bootstrap, and does no more.
    if (!page) return client;
    const started = createCore(client, options, log);
    state.settle = started.core.settle;
    state.members = Object.assign(membersOf(started, parts), always);
    const { featureFlags = {} } = state.members;
    for (const [name, member] of Object.entries(featureFlags))
      if (typeof member === 'function') Object.assign(featureFlags, { [name]: guarded(name, member as Member, log) });
    if (started.identified) client.identify(started.identified);
    early.carryOut(call);
    try {
      options.loaded(client);
    } catch (error) {
      log.error('The option loaded failed', error);
    }
    return client;
  };

  const client = clientOf(state, call, (token, options, name) => {
    try {
      if (!name || name === 'posthog') return start(token, options);
      named[name] ??= createClient(parts);
      Object.assign(client, { [name]: named[name] });
      return named[name].init(token, options);
    } catch (error) {
      log.error('init failed', error);
      return client;
    }
  });
  const always = parts.always?.(client);
  return client;
}

function guarded(name: string, member: Member, log: Log): Member {
  return (...args) => {
    try {
      return member(...args);
    } catch (error) {
      return log.error(`posthog.${name} failed`, error);
    }
  };
}

function clientOf(state: ClientState, call: (name: string, args: unknown[]) => unknown, init: Client['init']): Client {
  /** Takes properties, or the name and the value of one. */
  const setPerson = (before: undefined[]) => (given: Properties | string, value?: Property) =>
    void call('setPersonProperties', [...before, typeof given === 'string' ? { [given]: value } : given]);
  const client: Partial<Client> = {
    init,
    get config() {
      return state.options;
    },
    get __loaded() {
      return state.members !== undefined;
    },
    get featureFlags() {
      return state.members?.featureFlags ?? noFlags;
    },
    people: {
      set: setPerson([]),
      set_once: setPerson([undefined]),
    },
    surveys: { displaySurvey: () => void call('renderSurvey', []) },
    version: libraryVersion,
  };
  for (const name of memberNames) Object.assign(client, { [name]: (...args: unknown[]) => call(name, args) });
  return client as Client;
}

const noFlags: Client['featureFlags'] = {
  hasLoadedFlags: false,
  getFlags: () => [],
  getFlagVariants: () => ({}),
  override() {},
  overrideFeatureFlags() {},
};
