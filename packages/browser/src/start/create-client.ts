// Creates the client with its methods, `init`, options, console output and early listeners.

import type { Client, InitOptions, Options } from '../client/client.ts';
import type { Core, Feature, Log } from '../client/core.ts';
import { libraryVersion } from '../client/library-version.ts';
import type { Properties, Property } from '../client/values.ts';
import { getDefaultOptions, type ReadOptions } from '../options/default-options.ts';
import { attempt, page } from '../page/globals.ts';
import { createCore } from './create-core.ts';
import { memberNames, subscriptionNames } from './member-names.ts';
import { createMembers } from './members.ts';

type Member = (...args: unknown[]) => unknown;

export interface ClientParts extends OptionsParts {
  features: Feature[];
  /** Methods that also work before `init`. */
  always?: (client: Client) => Partial<Client>;
}

interface ClientState {
  options: Options;
  members?: Partial<Client>;
  settle?: Core['settle'];
}

/**
 * Creates a client that does nothing until the application calls `init`. All methods exist from the start, and never
 * throw.
 */
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
    return log.debug(`posthog.${name} is not included in this build`);
  };

  const start = (token: unknown, given?: InitOptions): Client => {
    if (state.members) log.warn('You have already initialized PostHog');
    const options = state.members ? undefined : optionsOfInit(parts, token, given, log);
    if (!options) return client;
    state.options = options;
    // On a server, only the `bootstrap` option is used, for rendering.
    if (!page) return client;
    const started = createCore(client, options, log);
    state.settle = started.core.settle;
    state.members = Object.assign(createMembers(started, parts), always);
    const { featureFlags = {} } = state.members;
    for (const [name, member] of Object.entries(featureFlags))
      if (typeof member === 'function') Object.assign(featureFlags, { [name]: guarded(name, member as Member, log) });
    if (started.identified) client.identify(started.identified);
    early.carryOut(call);
    try {
      options.loaded(client);
    } catch (error) {
      log.error('The loaded callback failed', error);
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
  /** Accepts either an object with properties, or the name and the value of one property. */
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

interface OptionsParts {
  readOptions: ReadOptions;
  /**
   * Returns the defaults of options that only some builds have.
   * @param defaults the date as of which the defaults apply
   */
  fullBuildOptions?: (defaults: string | undefined) => Partial<Options>;
  /** The host that served the script, which is the default for `api_host`. */
  scriptHost?: string | undefined;
}

/** Returns the complete options. If a required option is missing, logs an error and returns undefined. */
function optionsOfInit(
  { readOptions, fullBuildOptions, scriptHost }: OptionsParts,
  givenToken: unknown,
  givenOptions: InitOptions | undefined,
  log: Log,
): Options | undefined {
  const read = readOptions(givenOptions, log);
  const token = String(givenToken ?? '').trim();
  const api_host = read.api_host || scriptHost;
  if (!token) log.error('init: the token is missing');
  else if (!api_host) log.error('init: api_host is missing. Set it to the URL of your ingest host');
  else return { ...getDefaultOptions(), ...fullBuildOptions?.(read.defaults), ...read, token, api_host } as Options;
  return undefined;
}

type Level = 'log' | 'warn' | 'error';

/** Creates a log that writes to the browser console. On a server, it does not write anything. */
function createLog(isDebug: () => boolean): Log {
  const write = (level: Level, what: unknown[]) => {
    // Do not fail on pages that have removed console functions to suppress output.
    // biome-ignore lint/suspicious/noConsole: all other files log through this function
    attempt(() => page && console[level]('[Millrace]', ...what));
  };
  return {
    debug: (...what) => isDebug() && write('log', what),
    warn: (...what) => write('warn', what),
    error: (...what) => write('error', what),
  };
}

interface Subscription {
  name: string;
  args: unknown[];
  stop?: unknown;
}

interface EarlySubscriptions {
  /** Adds a listener. The returned function removes the listener, even if `carryOut` has already subscribed it. */
  add(name: string, args: unknown[]): () => void;
  carryOut(subscribe: (name: string, args: unknown[]) => unknown): void;
}

/**
 * Stores listeners that the application adds before `init`, because components are often mounted before the code that
 * starts the client.
 */
function createEarlySubscriptions(): EarlySubscriptions {
  const all = new Set<Subscription>();
  return {
    add(name, args) {
      const subscription: Subscription = { name, args };
      // On a server, do not store listeners: the client never starts there, so the listeners of all requests would
      // accumulate.
      if (page) all.add(subscription);
      return () => {
        all.delete(subscription);
        if (typeof subscription.stop === 'function') subscription.stop();
      };
    },
    carryOut(subscribe) {
      for (const one of all) one.stop = subscribe(one.name, one.args);
    },
  };
}
