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

/** Where one SDK sends to. */
export interface Target {
  ingestUrl: string;
  projectApiKey: string;
}

/** One SDK under test, used as its documentation says, with nothing but the host changed. */
export interface Sdk {
  /** As in its registry, with the version: `posthog-node 5.70.0`. */
  name: string;
  /** A browser has one user after the other, a server names the user with each call. */
  kind: 'server' | 'browser';
  calls: readonly Call[];
  /** Why it cannot be run here, in half a sentence; null when it can. */
  unavailable: string | null;
  open(target: Target): Promise<SdkSession>;
}

export interface SdkSession {
  /** Makes the call as `scenario.ts` describes it. A server SDK has sent everything when this resolves. */
  make(call: Call): Promise<void>;
  /** Everything the SDK complained of. */
  complaints: string[];
  close(): Promise<void>;
}
