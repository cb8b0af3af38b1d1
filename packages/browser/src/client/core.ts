import type { Client, Options } from './client.ts';
import type { CaptureOptions, CaptureResult, JsonValue, Properties } from './values.ts';

/** Internal events of a client. Listeners run in the order they were added. */
export interface Signals {
  /** The environment's settings were loaded. Null if loading failed. */
  remoteConfig: RemoteConfig | null;
  identity: { distinctId: string; anonymousDistinctId?: string };
  /** The person properties, group properties or groups that affect flags have changed. */
  flagInput: undefined;
  /** Another tab has changed or identified the visitor. This tab can read the change from the shared storage. */
  otherTab: undefined;
  /** The client was reset for a new visitor. All data was deleted except the `bootstrap` option. */
  reset: undefined;
  /** A new session replaced the previous session, in any tab. */
  session: { sessionId: string; windowId: string };
  sessionId: Parameters<Parameters<Client['onSessionId']>[0]>;
  options: Partial<Options>;
  consent: { isGranted: boolean };
  /** An event was created, but `before_send` has not processed it yet. Listeners may add properties. */
  capturing: CaptureResult;
  captured: CaptureResult;
  /** The visitor is leaving the page. Listeners may capture final events, which are then sent by beacon. */
  leaving: undefined;
  shutdown: undefined;
}

export interface Emitter {
  on<Name extends keyof Signals>(name: Name, listener: (detail: Signals[Name]) => void): () => void;
  emit<Name extends keyof Signals>(name: Name, detail: Signals[Name]): void;
}

/** The fields of the environment's settings (`/array/<token>/config` on the gateway) that the client uses. */
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
   * Millrace's web vitals settings. They do not use PostHog's field `capturePerformance`, because for that field
   * PostHog's library would load scripts that the gateway does not have.
   */
  millrace?: { web_vitals?: boolean; web_vitals_allowed_metrics?: string[] | null };
}

/** Stored data about a visitor, with the same keys and storage locations as in PostHog's library. */
export interface Store {
  /** Returns a stored value, including changes by other tabs. */
  get(name: string): JsonValue;
  set(values: Properties): void;
  remove(...names: string[]): void;
  /** Returns the super properties, which are sent with every event. Excludes names that the library uses internally. */
  superProperties(): Properties;
  /** Storage for internal data other than properties, such as the event queue. Null if the browser blocks storage. */
  readonly area: Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'> | null;
}

export interface ServerResponse {
  /** HTTP status. 0 if no response arrived because of a network error or a timeout. */
  status: number;
  json: JsonValue;
  /** Seconds to wait, from the `Retry-After` header. */
  retryAfter?: number;
  isTimeout?: boolean;
}

export interface Sender {
  /** Queues an event. The service then stores the event exactly once, or the client counts the event as dropped. */
  enqueue(event: CaptureResult, options: Pick<CaptureOptions, 'send_instantly' | 'transport'>): void;
  flush(): Promise<void>;
  /**
   * Sends a request other than an event batch to the service. The request is compressed but not retried. Never rejects.
   */
  request(
    url: string,
    options?: { method?: 'GET' | 'POST'; body?: object; timeoutMs?: number },
  ): Promise<ServerResponse>;
}

/** The components that are available to all features of a client after `init`. */
export interface Core {
  readonly token: string;
  readonly client: Client;
  /** The client's options, which `set_config` modifies in place. */
  readonly options: Options;
  readonly store: Store;
  /** Data that is stored until the tab closes. */
  readonly tabStore: Store;
  readonly sender: Sender;
  readonly signals: Emitter;
  readonly log: Log;
  distinctId(): string;
  /** Returns the visitor's `$initial_*` properties, which describe the visitor's first page view. */
  initialPersonProperties: () => Properties;
  sessionId(): string;
  /** Adds a check that runs before an event is created. If the check returns false, the event is not captured. */
  addGate(mayPass: (event: string, options?: CaptureOptions) => boolean): void;
  capture(name: string, properties?: Properties | null, options?: CaptureOptions): CaptureResult | undefined;
  /**
   * Captures an event without delaying the page. Use this for DOM events that the page is about to respond to. Reads
   * the page state immediately. The rest of the work runs in a later task, or earlier if `settle` is called.
   */
  captureSoon(name: string, properties: () => Properties): void;
  /**
   * Completes deferred captures. Call this before a change that must not affect the deferred events, such as a new
   * visitor, new properties, or the end of the page.
   */
  settle(): void;
  /**
   * Begins capturing an event with the current time, visitor and session. The returned function adds the remaining
   * properties and captures the event. Returns undefined if the event must not be captured.
   */
  begin(...event: Parameters<Core['capture']>): ((more?: Properties) => CaptureResult | undefined) | undefined;
  /** Adds properties to every future event. Properties passed to `capture` take precedence. */
  addProperties(collect: (event: string, uuid: string, timestamp: Date) => Properties): void;
  /** Adds properties that describe the current page state to every future event. */
  addPageProperties(read: () => Properties): void;
  /** Returns false if the visitor has opted out. */
  isCapturing(): boolean;
  /** Returns the URL for a path on the ingest host. The URL never contains a double slash before the path. */
  url(path: string, of?: 'api' | 'flags' | 'assets'): string;
}

export interface Log {
  /** Logs a message if debug mode is on. */
  debug(...what: unknown[]): void;
  warn(...what: unknown[]): void;
  error(...what: unknown[]): void;
}

/** A feature that some builds omit. The client calls it once, after `init`. */
export type Feature = (core: Core) => Partial<Client> | undefined;
