import type { Client, Options } from './client.ts';
import type { CaptureOptions, CaptureResult, JsonValue, Properties } from './values.ts';

/** Internal events of a client. Listeners are called in the order in which they were added. */
export interface Signals {
  /** The environment's settings were loaded. Null if loading them failed. */
  remoteConfig: RemoteConfig | null;
  /** The visitor's distinct ID has changed. */
  identity: { distinctId: string; anonymousDistinctId?: string };
  /** Data on which flags depend has changed: person properties, group properties or groups. */
  flagInput: undefined;
  /** Another tab has changed or identified the visitor. This tab can read the change from the shared storage. */
  otherTab: undefined;
  /** The client was reset for a new visitor. It has forgotten everything except the `bootstrap` option. */
  reset: undefined;
  /** A new session replaced the previous one, in this tab or another. */
  session: { sessionId: string; windowId: string };
  sessionId: Parameters<Parameters<Client['onSessionId']>[0]>;
  options: Partial<Options>;
  consent: { isGranted: boolean };
  /** An event was created, and `before_send` has not processed it yet. Listeners may add properties. */
  capturing: CaptureResult;
  captured: CaptureResult;
  /** The page is about to be left. Listeners may capture last events. Queued events are then sent by beacon. */
  leaving: undefined;
  shutdown: undefined;
}

export interface Emitter {
  on<Name extends keyof Signals>(name: Name, listener: (detail: Signals[Name]) => void): () => void;
  emit<Name extends keyof Signals>(name: Name, detail: Signals[Name]): void;
}

/** The fields of the environment's settings (`/array/<token>/config` on the gateway) that a client uses. */
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
   * These settings are separate because PostHog's library would react to `capturePerformance` by loading scripts that
   * the gateway does not have.
   */
  millrace?: { web_vitals?: boolean; web_vitals_allowed_metrics?: string[] | null };
}

/** Data that is stored about a visitor, under the same keys and in the same places as PostHog's library uses. */
export interface Store {
  /** Returns a stored value. Changes by other tabs are included. */
  get(name: string): JsonValue;
  set(values: Properties): void;
  remove(...names: string[]): void;
  /** Returns the super properties, which are sent with every event. Excludes names that the library uses internally. */
  superProperties(): Properties;
  /** Storage for internal data other than properties: the queue and locks. Null if the browser blocks storage. */
  readonly area: Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'> | null;
}

export interface ServerResponse {
  /** HTTP status. 0 if no response arrived because of a network error or a timeout. */
  status: number;
  json: JsonValue;
  /** Number of seconds in the header `Retry-After`. */
  retryAfter?: number;
  isTimeout?: boolean;
}

export interface Sender {
  /** Queues an event. After this call, the event is either stored by the service exactly once or counted as dropped. */
  enqueue(event: CaptureResult, options: Pick<CaptureOptions, 'send_instantly' | 'transport'>): void;
  flush(): Promise<void>;
  /**
   * Sends a request to the service that is not for events. It is compressed like events, and it is not retried. Never
   * rejects.
   */
  request(
    url: string,
    options?: { method?: 'GET' | 'POST'; body?: object; timeoutMs?: number },
  ): Promise<ServerResponse>;
}

/** The components that all features of a client use after `init`. */
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
  /** Returns the visitor's `$initial_*` properties, which describe how the visitor first arrived. */
  initialPersonProperties: () => Properties;
  sessionId(): string;
  /** Adds a check that runs before an event is created. If the check returns false, the event is not captured. */
  addGate(mayPass: (event: string, options?: CaptureOptions) => boolean): void;
  capture(name: string, properties?: Properties | null, options?: CaptureOptions): CaptureResult | undefined;
  /**
   * Captures an event without delaying the page. It is for DOM events that the library observes while the page is about
   * to respond to the visitor. The state of the page is read immediately. The rest runs in a later task, or in `settle`
   * if that is called first.
   */
  captureSoon(name: string, properties: () => Properties): void;
  /**
   * Completes deferred captures. Must be called before any change that they must not see: another visitor, other
   * properties, or the end of the page.
   */
  settle(): void;
  /**
   * Captures an event in two steps. It gets the time, visitor and session of this call. It is captured when the
   * returned function is called with its remaining properties. Returns undefined if the event must not be captured.
   */
  begin(...event: Parameters<Core['capture']>): ((more?: Properties) => CaptureResult | undefined) | undefined;
  /** Adds properties to every future event. Properties passed to `capture` take precedence. */
  addProperties(collect: (event: string, uuid: string, timestamp: Date) => Properties): void;
  /** Like `addProperties`, for properties that describe the current state of the page. */
  addPageProperties(read: () => Properties): void;
  /** Returns false if the visitor has opted out. */
  isCapturing(): boolean;
  /** Returns the URL for a path on the ingest host, without a double slash. */
  url(path: string, of?: 'api' | 'flags' | 'assets'): string;
}

export interface Log {
  /** Logs a message, only in debug mode. */
  debug(...what: unknown[]): void;
  warn(...what: unknown[]): void;
  error(...what: unknown[]): void;
}

/** A feature that some builds leave out. It adds itself to the core once, after `init`. */
export type Feature = (core: Core) => Partial<Client> | undefined;
