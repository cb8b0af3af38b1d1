export type { CaptureOptions, CaptureResult } from './client/captured-event.ts';
export type {
  Client,
  EarlyAccessFeature,
  EventTypes,
  FlagResult,
  FlagTypes,
  InitOptions,
  Options,
} from './client/client.ts';
export type { FlagValue, JsonValue, Properties } from './client/values.ts';
