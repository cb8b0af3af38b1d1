import type { FlagCase } from './flag-cases.ts';

export interface FlagTarget {
  ingestUrl: string;
  projectApiKey: string;
  /** The key for local evaluation. If null, the SDK queries the server. */
  definitionsKey: string | null;
}

export interface SdkResult {
  /** Undefined or null if the flag is unknown to the SDK. */
  value?: unknown;
  /** The payload as a JSON string or a parsed value. */
  payload?: unknown;
}

/** An SDK with the setup that its documentation describes, except for the host. */
export interface FlagSdk {
  /** Name and version in the package registry: `posthog-node 5.70.0`. */
  name: string;
  /** Why this machine cannot run the SDK, as a clause for a message. Null if it can. */
  unavailable: string | null;
  /** Evaluates every case without sending events. @returns the results by case number */
  evaluate(target: FlagTarget, cases: readonly FlagCase[]): Promise<Map<number, SdkResult>>;
}

export const concurrency = 8;

/**
 * Returns a case's person properties, including the device ID. Not every SDK has a parameter for the device ID, but the
 * server also accepts it as a property.
 */
export function getPersonProperties({ context }: FlagCase): Record<string, unknown> {
  const { person_properties: sent = {}, device_id } = context;
  return device_id === undefined ? sent : { ...sent, $device_id: device_id };
}
