import type { Client, Options } from './client.ts';
import type { CaptureOptions, CaptureResult, JsonValue, Properties } from './values.ts';

/** What happens inside a client, for its parts to act upon. Listeners are called in the order they were added. */
export interface Signals {
  /** The environment's settings have arrived; null when they could not be loaded. */
  remoteConfig: RemoteConfig | null;
  /** The visitor is known by another distinct id from now on. */
  identity: { distinctId: string; anonymousDistinctId?: string };
  /** Person or group properties, or groups, that flags depend on have changed. */
  flagInput: undefined;
  /** In another tab the visitor became another one, or known: by storage this tab knows it too. */
  otherTab: undefined;
  /** Another visitor, of whom nothing is known but the options' `bootstrap`. */
  reset: undefined;
  /** A session was followed by another, in this tab or in another. */
  session: { sessionId: string; windowId: string };
  sessionId: Parameters<Parameters<Client['onSessionId']>[0]>;
  options: Partial<Options>;
  consent: { isGranted: boolean };
  /** An event that `before_send` has not seen yet: listeners may add to it. */
  capturing: CaptureResult;
  captured: CaptureResult;
  /** The page goes away, maybe for good: last events may be captured, what waits is sent by beacon after this. */
  leaving: undefined;
  shutdown: undefined;
}

export interface Emitter {
  on<Name extends keyof Signals>(name: Name, listener: (detail: Signals[Name]) => void): () => void;
  emit<Name extends keyof Signals>(name: Name, detail: Signals[Name]): void;
}

/** What the gateway tells browsers (`/array/<token>/config`), of which a client acts on: */
export interface RemoteConfig {
  supportedCompression?: string[];
  hasFeatureFlags?: boolean;
  autocapture_opt_out?: boolean;
  autocaptureExceptions?: boolean;
  errorTracking?: { autocaptureExceptions?: boolean };
  analytics?: { endpoint?: string };
  elementsChainAsString?: boolean;
  defaultIdentifiedOnly?: boolean;
  /** For this library alone: of `capturePerformance` PostHog's would load scripts that the gateway does not have. */
  millrace?: { web_vitals?: boolean; web_vitals_allowed_metrics?: string[] | null };
}

/** What is remembered of a visitor, in the keys and stores of PostHog's library. */
export interface Store {
  /** What another tab wrote is seen. */
  get(name: string): JsonValue;
  set(values: Properties): void;
  remove(...names: string[]): void;
  /** Super properties: what is sent with every event, without the names kept for the library. */
  superProperties(): Properties;
  /** Anything of the library's own that is not a property: the queue, a lock. Null where storage is blocked. */
  readonly area: Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'> | null;
}

export interface Answer {
  /** 0: no answer came (network error, timeout). */
  status: number;
  json: JsonValue;
  /** Seconds, of `Retry-After`. */
  retryAfter?: number;
  isTimeout?: boolean;
}

export interface Sender {
  /** Queues an event; from when this returns it is stored once by the service, or counted as dropped. */
  enqueue(event: CaptureResult, options: Pick<CaptureOptions, 'send_instantly' | 'transport'>): void;
  flush(): Promise<void>;
  /** Any other request to the service: compressed as events are, no retry. Never rejects. */
  request(url: string, options?: { method?: 'GET' | 'POST'; body?: object; timeoutMs?: number }): Promise<Answer>;
}

/** What the parts of a client share, from `init` on. */
export interface Core {
  readonly token: string;
  readonly client: Client;
  /** Changed in place by `set_config`. */
  readonly options: Options;
  readonly store: Store;
  /** What is remembered until the tab closes. */
  readonly tabStore: Store;
  readonly sender: Sender;
  readonly signals: Emitter;
  readonly log: Log;
  distinctId(): string;
  /** The `$initial_*` of the visitor: where they came from the first time. */
  initialPersonProperties: () => Properties;
  sessionId(): string;
  /** Asked before an event is made; false: it is not captured. */
  addGate(mayPass: (event: string, options?: CaptureOptions) => boolean): void;
  capture(name: string, properties?: Properties | null, options?: CaptureOptions): CaptureResult | undefined;
  /**
   * The same for what the library hears by itself while the page is about to answer a visitor: what the page shows now is
   * read now, all else is done in a task of its own, or by `settle` if that comes first.
   */
  captureSoon(name: string, properties: () => Properties): void;
  /** Before anything that what was heard until now knows nothing of: another visitor, other properties, the end of the page. */
  settle(): void;
  /**
   * The same in two steps: an event of this moment, visitor and session, which is captured when the rest of its properties
   * is known. Undefined: it may not be captured.
   */
  begin(...event: Parameters<Core['capture']>): ((more?: Properties) => CaptureResult | undefined) | undefined;
  /** Adds properties to every event from now on; what the caller of `capture` gave wins. */
  addProperties(collect: (event: string, uuid: string, timestamp: Date) => Properties): void;
  /** The same of what the page shows at the moment. */
  addPageProperties(read: () => Properties): void;
  /** False: opted out, or a bot: nothing is captured. */
  isCapturing(): boolean;
  /** Address of a path of the ingest host, without a double slash. */
  url(path: string, of?: 'api' | 'flags' | 'assets'): string;
}

export interface Log {
  /** Only in debug. */
  debug(...what: unknown[]): void;
  warn(...what: unknown[]): void;
  error(...what: unknown[]): void;
}

/** A part that a build may leave out: wires itself to the core once, after `init`. */
export type Feature = (core: Core) => Partial<Client> | undefined;
