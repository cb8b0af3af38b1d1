import type { Bootstrap, FlagValue, JsonValue } from '@millrace/browser';
import type { PostHog } from '../../src/context.ts';

export interface GivenFlags {
  flags?: Record<string, FlagValue>;
  payloads?: Record<string, JsonValue>;
  /** If false, the client has no flags and does not call listeners. */
  hasLoaded?: boolean;
  bootstrap?: Bootstrap;
}

export type RecordingClient = PostHog & {
  calls: unknown[][];
  load(flags: Record<string, FlagValue>, payloads?: Record<string, JsonValue>): void;
  callsOf(name: string): unknown[][];
  listeners(): number;
};

/** A client with the real client's methods. It records all calls, and returns the flags that the test sets. */
export function createRecordingClient({
  flags,
  payloads,
  hasLoaded = true,
  bootstrap,
}: GivenFlags = {}): RecordingClient {
  const calls: unknown[][] = [];
  const listeners = new Set<(active: string[]) => void>();
  let values = flags ?? {};
  let payloadValues = payloads ?? {};
  const featureFlags = {
    hasLoadedFlags: hasLoaded,
    getFlags: () => Object.keys(values),
    getFlagVariants: () => values,
  };
  const active = () => Object.keys(values).filter((key) => values[key]);

  function recorded<Parameters extends unknown[], Result>(name: string, member: (...given: Parameters) => Result) {
    return (...given: Parameters): Result => {
      calls.push([name, ...given]);
      return member(...given);
    };
  }

  const client = {
    calls,
    callsOf: (name: string) => calls.filter(([called]) => called === name).map(([, ...given]) => given),
    listeners: () => listeners.size,
    load(next: Record<string, FlagValue>, nextPayloads: Record<string, JsonValue> = {}) {
      values = next;
      payloadValues = nextPayloads;
      featureFlags.hasLoadedFlags = true;
      for (const listener of listeners) listener(active());
    },
    config: { bootstrap },
    featureFlags,
    // A value of false would mean that the client has not started.
    __loaded: undefined,
    init: recorded('init', () => {}),
    set_config: recorded('set_config', () => {}),
    capture: recorded('capture', () => {}),
    captureException: recorded('captureException', (error: unknown) => ({ event: '$exception', uuid: String(error) })),
    isFeatureEnabled: recorded('isFeatureEnabled', (key: string) =>
      values[key] === undefined ? undefined : Boolean(values[key]),
    ),
    getFeatureFlag: recorded('getFeatureFlag', (key: string) => values[key]),
    getFeatureFlagResult: recorded('getFeatureFlagResult', (key: string) => {
      const value = values[key];
      if (value === undefined) return undefined;
      const variant = typeof value === 'string' ? value : undefined;
      // As in the real client, each read returns a new object.
      return { key, enabled: Boolean(value), variant, payload: structuredClone(payloadValues[key]) };
    }),
    onFeatureFlags(listener: (active: string[]) => void) {
      listeners.add(listener);
      if (featureFlags.hasLoadedFlags) listener(active());
      return () => listeners.delete(listener);
    },
    get_session_replay_url: () => 'https://replay.example/1',
    surveys: { displaySurvey: recorded('displaySurvey', () => {}) },
  };
  return client as unknown as RecordingClient;
}
