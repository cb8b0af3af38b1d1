import type { FlagCase } from './flag-cases.ts';

/** The server that an SDK queries. */
export interface FlagTarget {
  ingestUrl: string;
  projectApiKey: string;
  /** With a key, the SDK evaluates locally. Without one, it queries the server. */
  definitionsKey: string | null;
}

export interface SdkResult {
  /** Undefined or null if the SDK does not know the flag. */
  value?: unknown;
  /** The JSON text, or the parsed value. */
  payload?: unknown;
}

/** One SDK, used as documented, with only the host changed. */
export interface FlagSdk {
  /** Name in its registry, with the version: `posthog-node 5.70.0`. */
  name: string;
  /** Why it cannot run here, as half a sentence. Null if it can. */
  unavailable: string | null;
  /** Evaluates every case without sending events. @returns the results by case number. */
  evaluate(target: FlagTarget, cases: readonly FlagCase[]): Promise<Map<number, SdkResult>>;
}

export const concurrency = 8;

/** SDKs without a parameter for the device ID pass it as a property, as the server does. */
export function personPropertiesOf({ context }: FlagCase): Record<string, unknown> {
  const { person_properties: sent = {}, device_id } = context;
  return device_id === undefined ? sent : { ...sent, $device_id: device_id };
}
