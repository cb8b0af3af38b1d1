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

/** Where an SDK sends events. */
export interface Target {
  ingestUrl: string;
  projectApiKey: string;
}

/** One SDK under test, used as documented, with only the host changed. */
export interface Sdk {
  /** Name in its registry, with the version: `posthog-node 5.70.0`. */
  name: string;
  /** A browser SDK has one user at a time. A server SDK passes the user with each call. */
  kind: 'server' | 'browser';
  calls: readonly Call[];
  /** Why it cannot run here, as half a sentence. Null if it can. */
  unavailable: string | null;
  open(target: Target): Promise<SdkSession>;
}

export interface SdkSession {
  /** Makes the call as `scenario.ts` describes it. A server SDK has sent everything when this resolves. */
  make(call: Call): Promise<void>;
  /** All errors and warnings of the SDK. */
  complaints: string[];
  close(): Promise<void>;
}
