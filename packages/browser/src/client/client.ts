import type { AbsentOptions, OptionValues } from './options.ts';
import type { CaptureOptions, CaptureResult, FlagValue, JsonValue, Properties, Property } from './values.ts';

/**
 * The application's feature flags. Applications add their flags by declaration merging: `declare module
 * '@millrace/browser' { interface FlagTypes { 'button-color': 'green' | 'orange' } }`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: applications add to it
export interface FlagTypes {}

/** The application's events and their properties. Applications add them by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: applications add to it
export interface EventTypes {}

export type FlagKey = keyof FlagTypes extends never ? string : keyof FlagTypes | (string & {});
export type ValueOf<Key> = Key extends keyof FlagTypes ? FlagTypes[Key] : FlagValue;
export type PropertiesOf<Name> = Name extends keyof EventTypes ? EventTypes[Name] : Properties;

export interface FlagResult {
  key: string;
  enabled: boolean;
  /** Variant key. Undefined for a flag without variants. */
  variant: string | undefined;
  payload: JsonValue;
}

export interface FlagReadOptions {
  /** If false, reading the flag does not capture a `$feature_flag_called` event. */
  send_event?: boolean;
  /** If true, values that were stored on the previous visit are ignored. */
  fresh?: boolean;
}

export type FlagsListener = (
  activeKeys: string[],
  values: Record<string, FlagValue>,
  context?: { errorsLoading?: boolean },
) => void;

export interface FlagOverrides {
  flags?: Record<string, FlagValue> | string[] | false;
  payloads?: Record<string, JsonValue> | false;
  suppressWarning?: boolean;
}

export interface EarlyAccessFeature {
  id?: string;
  name: string;
  description: string;
  stage: string;
  documentationUrl: string | null;
  flagKey: string | null;
}

export interface FlagMembers {
  getFeatureFlag<Key extends FlagKey>(key: Key, options?: FlagReadOptions): ValueOf<Key> | undefined;
  isFeatureEnabled(key: FlagKey, options: FlagReadOptions & { defaultValue: boolean }): boolean;
  isFeatureEnabled(key: FlagKey, options?: FlagReadOptions & { defaultValue?: boolean }): boolean | undefined;
  getFeatureFlagPayload(key: FlagKey): JsonValue;
  getFeatureFlagResult(key: FlagKey, options?: FlagReadOptions): FlagResult | undefined;
  /**
   * Adds a listener that is called on every change of flags, and immediately if flags are known. Returns a function
   * that removes the listener.
   */
  onFeatureFlags(listener: FlagsListener): () => void;
  reloadFeatureFlags(): void;
  updateFlags(
    flags: Record<string, FlagValue>,
    payloads?: Record<string, JsonValue>,
    options?: { merge?: boolean },
  ): void;
  setPersonPropertiesForFlags(properties: Properties, reload?: boolean): void;
  resetPersonPropertiesForFlags(reload?: boolean): void;
  setGroupPropertiesForFlags(properties: Record<string, Properties>, reload?: boolean): void;
  resetGroupPropertiesForFlags(groupType?: string): void;
  getEarlyAccessFeatures(
    listener: (features: EarlyAccessFeature[], context?: { isLoaded: boolean; error?: string }) => void,
    forceReload?: boolean,
    stages?: string[],
  ): void;
  updateEarlyAccessFeatureEnrollment(key: string, isEnrolled: boolean, stage?: string): void;
  featureFlags: {
    readonly hasLoadedFlags: boolean;
    getFlags(): string[];
    getFlagVariants(): Record<string, FlagValue>;
    override(flags: FlagOverrides['flags'], suppressWarning?: boolean): void;
    overrideFeatureFlags(overrides: FlagOverrides | NonNullable<FlagOverrides['flags']>): void;
  };
}

/** The complete options of a client, with defaults filled in. */
export interface Options extends OptionValues {
  /** Called when `init` has finished. */
  loaded: (client: Client) => void;
}

/** The options that an application passes to `init`. All are optional. Former option names are accepted too. */
export type InitOptions = Partial<Options> & FormerOptions & AbsentOptions;

interface FormerOptions {
  process_person?: Options['person_profiles'];
  xhr_headers?: Options['request_headers'];
  cookie_name?: string;
  disable_cookie?: boolean;
  store_google?: boolean;
  verbose?: boolean;
  property_blacklist?: string[];
}

/** A listener for surveys. Millrace does not support surveys, so the list is always empty. */
type SurveysListener = (surveys: Property[], context?: { isLoaded: boolean; error?: string }) => void;

/** The client's public API. Names, arguments and results match PostHog's library. */
export interface Client extends FlagMembers {
  init(token: string, options?: InitOptions, name?: string): Client;
  capture<Name extends string>(
    name: Name,
    properties?: PropertiesOf<Name> | null,
    options?: CaptureOptions,
  ): CaptureResult | undefined;
  captureException(error: unknown, properties?: Properties): CaptureResult | undefined;
  on(event: 'eventCaptured', listener: (event: CaptureResult) => void): () => void;

  identify(distinctId?: string, set?: Properties, setOnce?: Properties): void;
  alias(alias: string, original?: string): CaptureResult | -1 | undefined;
  reset(options?: boolean | { resetDeviceID?: boolean; bootstrap?: Options['bootstrap'] }): void;
  group(type: string, key: string, properties?: Properties): void;
  getGroups(): Properties;
  resetGroups(): void;
  setPersonProperties(set?: Properties, setOnce?: Properties): void;
  unsetPersonProperties(names: string | string[]): void;
  createPersonProfile(): void;
  get_distinct_id(): string;

  register(properties: Properties, days?: number): void;
  register_once(properties: Properties, defaultValue?: Property, days?: number): void;
  register_for_session(properties: Properties): void;
  unregister(name: string): void;
  unregister_for_session(name: string): void;
  get_property(name: string): Property;
  getSessionProperty(name: string): Property;

  get_session_id(): string;
  onSessionId(
    listener: (
      sessionId: string,
      windowId: string,
      change?: { noSessionId: boolean; activityTimeout: boolean; sessionPastMaximumLength: boolean },
    ) => void,
  ): () => void;
  get_session_replay_url(options?: { withTimestamp?: boolean; timestampLookBack?: number }): string;
  startSessionRecording(override?: unknown): void;
  stopSessionRecording(): void;
  sessionRecordingStarted(): boolean;

  opt_in_capturing(options?: { captureEventName?: string | null | false; captureProperties?: Properties }): void;
  opt_out_capturing(): void;
  has_opted_in_capturing(): boolean;
  has_opted_out_capturing(): boolean;
  get_explicit_consent_status(): 'granted' | 'denied' | 'pending';
  clear_opt_in_out_capturing(): void;

  set_config(options: InitOptions): void;
  /**
   * Sends queued events immediately. Resolves when the service has accepted the events, or when they remain in storage
   * for the next page.
   */
  flush(): Promise<void>;
  shutdown(longest?: number): Promise<void>;
  debug(isOn?: boolean): void;
  getPageViewId(): string | undefined;
  getSurveys(listener: SurveysListener, forceReload?: boolean): void;
  getActiveMatchingSurveys(listener: SurveysListener, forceReload?: boolean): void;
  renderSurvey(surveyId: string, selector: string): void;
  surveys: { displaySurvey(surveyId: string, options?: unknown): void };
  /** @deprecated use `setPersonProperties` */
  people: Record<'set' | 'set_once', (properties: Properties | string, value?: Property) => void>;

  readonly config: Options;
  readonly version: string;
  readonly __loaded: boolean;
}
