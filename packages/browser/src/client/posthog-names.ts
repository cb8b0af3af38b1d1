import type { Client, FlagResult, Options } from './client.ts';
import type { Bootstrap } from './options.ts';
import type { JsonValue } from './values.ts';

// What applications that come from PostHog's library import, by the names they know.
export type PostHog = Client;
export type PostHogInterface = Client;
export type PostHogConfig = Options;
export type BootstrapConfig = Bootstrap;
export type FeatureFlagResult = FlagResult;
export type JsonType = JsonValue;
