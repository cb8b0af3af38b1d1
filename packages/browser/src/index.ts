export type { CaptureOptions, CaptureResult } from './client/captured-event.ts';
export type {
  Client,
  EarlyAccessFeature,
  EventTypes,
  FlagKey,
  FlagResult,
  FlagTypes,
  InitOptions,
  Options,
  PropertiesOf,
  ValueOf,
} from './client/client.ts';
export type { Bootstrap } from './client/options.ts';
export type { FlagValue, JsonValue, Properties } from './client/values.ts';
