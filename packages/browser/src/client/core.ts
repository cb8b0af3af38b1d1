import type { Client, Options } from './client.ts';
import type { CaptureOptions, CaptureResult, JsonValue, Properties } from './values.ts';

/** Internal events of a client. Listeners are called in the order in which they were added. */
export interface Signals {
  /** The environment's settings were loaded, or null if loading failed. */
  remoteConfig: RemoteConfig | null;
  /** The visitor's distinct id has changed. */
  identity: { distinctId: string; anonymousDistinctId?: string };
  /** Person properties, group properties or groups on which flags depend have changed. */
  flagInput: undefined;
  /** Another tab changed or identified the visitor. This tab has the change through shared storage. */
  otherTab: undefined;
  /** Reset to a new visitor. Nothing is known except the `bootstrap` option. */
  reset: undefined;
  /** A new session replaced the previous one, in this tab or another. */
  session: { sessionId: string; windowId: string };
  sessionId: Parameters<Parameters<Client['onSessionId']>[0]>;
  options: Partial<Options>;
  consent: { isGranted: boolean };
  /** An event that `before_send` has not processed yet. Listeners may add properties. */
  capturing: CaptureResult;
  captured: CaptureResult;
  /** The page is about to be left. Last events may be captured, and queued events are sent by beacon afterwards. */
  leaving: undefined;
  shutdown: undefined;
}

export interface Emitter {
  on<Name extends keyof Signals>(name: Name, listener: (detail: Signals[Name]) => void): () => void;
  emit<Name extends keyof Signals>(name: Name, detail: Signals[Name]): void;
}

/** The environment's settings from the gateway (`/array/<token>/config`), as far as a client uses them. */
export interface RemoteConfig {
  supportedCompression?: string[];
  hasFeatureFlags?: boolean;
  autocapture_opt_out?: boolean;
  autocaptureExceptions?: boolean;
  errorTracking?: { autocaptureExceptions?: boolean };
  analytics?: { endpoint?: string };
  elementsChainAsString?: boolean;
  defaultIdentifiedOnly?: boolean;
  /**
   * Only read by this library. PostHog's library would react to `capturePerformance` by loading scripts that the
   * gateway does not have.
   */
  millrace?: { web_vitals?: boolean; web_vitals_allowed_metrics?: string[] | null };
}

/** Data that is stored about a visitor, with the same keys and places as in PostHog's library. */
export interface Store {
  /** Includes changes made by other tabs. */
  get(name: string): JsonValue;
  set(values: Properties): void;
  remove(...names: string[]): void;
  /** Returns the super properties, which are sent with every event. Excludes names that the library uses internally. */
  superProperties(): Properties;
  /** Storage for internal data other than properties: the queue and locks. Null if storage is blocked. */
  readonly area: Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'> | null;
}

export interface ServerResponse {
  /** 0 if no response arrived (network error or timeout). */
  status: number;
  json: JsonValue;
  /** Seconds from `Retry-After`. */
  retryAfter?: number;
  isTimeout?: boolean;
}

export interface Sender {
  /** Queues an event. Once this returns, the service will store the event exactly once, or it is counted as dropped. */
  enqueue(event: CaptureResult, options: Pick<CaptureOptions, 'send_instantly' | 'transport'>): void;
  flush(): Promise<void>;
  /** Sends any other request to the service, compressed like events and without retries. Never rejects. */
  request(
    url: string,
    options?: { method?: 'GET' | 'POST'; body?: object; timeoutMs?: number },
  ): Promise<ServerResponse>;
}

/** The components that the features of a client share after `init`. */
export interface Core {
  readonly token: string;
  readonly client: Client;
  /** Modified in place by `set_config`. */
  readonly options: Options;
  readonly store: Store;
  /** Data that is stored until the tab closes. */
  readonly tabStore: Store;
  readonly sender: Sender;
  readonly signals: Emitter;
  readonly log: Log;
  distinctId(): string;
  /** Returns the visitor's `$initial_*` properties, which describe how the visitor first arrived. */
  initialPersonProperties: () => Properties;
  sessionId(): string;
  /** Adds a check that runs before an event is created. If it returns false, the event is not captured. */
  addGate(mayPass: (event: string, options?: CaptureOptions) => boolean): void;
  capture(name: string, properties?: Properties | null, options?: CaptureOptions): CaptureResult | undefined;
  /**
   * Captures an event with low impact, for DOM events that the library observes while the page is about to respond to
   * the visitor. Page state is read immediately, and the rest runs in a later task, or in `settle` if that comes first.
   */
  captureSoon(name: string, properties: () => Properties): void;
  /**
   * Completes deferred captures. Must be called before changes that they must not see: another visitor, other
   * properties, or the end of the page.
   */
  settle(): void;
  /**
   * Captures an event in two steps: it has the time, visitor and session of this call, and is captured when its
   * remaining properties are known. Undefined if it must not be captured.
   */
  begin(...event: Parameters<Core['capture']>): ((more?: Properties) => CaptureResult | undefined) | undefined;
  /** Adds properties to every future event. Properties passed to `capture` win. */
  addProperties(collect: (event: string, uuid: string, timestamp: Date) => Properties): void;
  /** Like `addProperties`, for properties that describe the current state of the page. */
  addPageProperties(read: () => Properties): void;
  /** False if the visitor opted out. */
  isCapturing(): boolean;
  /** Returns the URL for a path on the ingest host, without a double slash. */
  url(path: string, of?: 'api' | 'flags' | 'assets'): string;
}

export interface Log {
  /** Only logs in debug mode. */
  debug(...what: unknown[]): void;
  warn(...what: unknown[]): void;
  error(...what: unknown[]): void;
}

/** A feature that a build may omit. It registers itself with the core once, after `init`. */
export type Feature = (core: Core) => Partial<Client> | undefined;
