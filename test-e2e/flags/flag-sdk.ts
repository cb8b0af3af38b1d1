import type { FlagCase } from './flag-cases.ts';

/** The server that an SDK queries, and its keys. */
export interface FlagTarget {
  ingestUrl: string;
  projectApiKey: string;
  /** If there is a key, the SDK evaluates locally. If it is null, the SDK queries the server. */
  definitionsKey: string | null;
}

export interface SdkResult {
  /** Value of the flag. Undefined or null if the SDK does not know the flag. */
  value?: unknown;
  /** Payload of the flag: the JSON text, or the parsed value. */
  payload?: unknown;
}

/** An SDK, used as its documentation says. Only the host is changed. */
export interface FlagSdk {
  /** Name in the package registry, with the version: `posthog-node 5.70.0`. */
  name: string;
  /** The reason why the SDK cannot run on this machine, as a part of a sentence. Null if it can. */
  unavailable: string | null;
  /** Evaluates every case without sending events. @returns the results by the number of the case */
  evaluate(target: FlagTarget, cases: readonly FlagCase[]): Promise<Map<number, SdkResult>>;
}

export const concurrency = 8;

/**
 * Returns the person properties of a case. If an SDK has no parameter for the device ID, it is passed as a property,
 * which the server also accepts.
 */
export function personPropertiesOf({ context }: FlagCase): Record<string, unknown> {
  const { person_properties: sent = {}, device_id } = context;
  return device_id === undefined ? sent : { ...sent, $device_id: device_id };
}
