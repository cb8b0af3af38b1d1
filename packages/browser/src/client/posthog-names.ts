import type {
  Client,
  EarlyAccessFeature,
  FlagMembers,
  FlagOverrides,
  FlagReadOptions,
  FlagResult,
  FlagsListener,
  InitOptions,
  Options,
} from './client.ts';
import type {
  AutocaptureOptions,
  BeforeSend,
  Bootstrap,
  ExceptionOptions,
  OptionValues,
  PerformanceOptions,
} from './options.ts';
import type { CaptureResult, JsonObject, JsonValue } from './values.ts';

// PostHog's names for the client's types, for applications that switch from PostHog's library.
export type PostHog = Client;
export type PostHogInterface = Client;
export type PostHogConfig = Options & Omit<InitOptions, keyof Options>;
export type ConfigDefaults = OptionValues['defaults'];
export type RequestQueueConfig = OptionValues['request_queue_config'];
export type AutocaptureConfig = AutocaptureOptions;
export type ExceptionAutoCaptureConfig = ExceptionOptions;
export type PerformanceCaptureConfig = PerformanceOptions;
export type BootstrapConfig = Bootstrap;
export type ResetOptions = Exclude<Parameters<Client['reset']>[0], boolean | undefined>;
export type BeforeSendFn = BeforeSend;
export type EventName = CaptureResult['event'];
export type FeatureFlagResult = FlagResult;
export type FeatureFlagOptions = FlagReadOptions;
export type IsFeatureEnabledOptions = FlagReadOptions & { defaultValue?: boolean };
export type OverrideFeatureFlagsOptions = Parameters<FlagMembers['featureFlags']['overrideFeatureFlags']>[0];
export type FeatureFlagOverrideOptions = FlagOverrides;
export type FeatureFlagsCallback = FlagsListener;
export type EarlyAccessFeatureCallback = Parameters<Client['getEarlyAccessFeatures']>[0];
export type EarlyAccessFeatureStage = EarlyAccessFeature['stage'];
export type SessionIdChangedCallback = Parameters<Client['onSessionId']>[0];
export type SurveyCallback = Parameters<Client['getSurveys']>[0];
export type JsonType = JsonValue;
export type JsonRecord = JsonObject;
