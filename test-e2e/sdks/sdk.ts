export const calls = [
  'capture',
  'identify',
  'alias',
  'group identify',
  'batch',
  'historical migration',
  'unload',
] as const;
export type Call = (typeof calls)[number];

export interface Target {
  ingestUrl: string;
  projectApiKey: string;
}

/** An SDK with the setup that its documentation describes, except for the host. */
export interface Sdk {
  /** Name and version in the package registry: `posthog-node 5.70.0`. */
  name: string;
  /** A browser SDK has one user at a time. With a server SDK, each call includes the user. */
  kind: 'server' | 'browser';
  calls: readonly Call[];
  /** Why this machine cannot run the SDK, as a clause for a message. Null if it can. */
  unavailable: string | null;
  open(target: Target): Promise<SdkSession>;
}

export interface SdkSession {
  /** Makes the call that `scenario.ts` describes. Resolves after a server SDK has sent all events. */
  make(call: Call): Promise<void>;
  complaints: string[];
  close(): Promise<void>;
}
