import type { FlagCase } from './flag-cases.ts';

/** Whom an SDK asks. */
export interface FlagTarget {
  ingestUrl: string;
  projectApiKey: string;
  /** With it an SDK evaluates by itself, without it it asks. */
  definitionsKey: string | null;
}

export interface SdkAnswer {
  /** Undefined or null when the SDK knows nothing of the flag. */
  value?: unknown;
  /** The JSON text, or what it means. */
  payload?: unknown;
}

/** One SDK, used as its documentation says, with nothing but the host changed. */
export interface FlagSdk {
  /** As in its registry, with the version: `posthog-node 5.70.0`. */
  name: string;
  /** Why it cannot be run here, in half a sentence; null when it can. */
  unavailable: string | null;
  /** Asks about every case, and sends no events. @returns the answers by the case's number. */
  ask(target: FlagTarget, cases: readonly FlagCase[]): Promise<Map<number, SdkAnswer>>;
}

/** As many questions are under way at a time. */
export const concurrency = 8;

/** Those SDKs that have no name for a device's id take it as a property, as the server does. */
export function personPropertiesOf({ context }: FlagCase): Record<string, unknown> {
  const { person_properties: sent = {}, device_id } = context;
  return device_id === undefined ? sent : { ...sent, $device_id: device_id };
}
