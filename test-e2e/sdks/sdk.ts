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

/** The host and the key with which an SDK sends events. */
export interface Target {
  ingestUrl: string;
  projectApiKey: string;
}

/** An SDK under test. It is used as its documentation says, and only the host is changed. */
export interface Sdk {
  /** Name in the package registry, with the version: `posthog-node 5.70.0`. */
  name: string;
  /** A browser SDK has one user at a time. A server SDK passes the user with each call. */
  kind: 'server' | 'browser';
  calls: readonly Call[];
  /** The reason why the SDK cannot run on this machine, as a part of a sentence. Null if it can. */
  unavailable: string | null;
  open(target: Target): Promise<SdkSession>;
}

export interface SdkSession {
  /** Makes the call that `scenario.ts` describes. When this resolves, a server SDK has sent everything. */
  make(call: Call): Promise<void>;
  /** All errors and warnings of the SDK. */
  complaints: string[];
  close(): Promise<void>;
}
