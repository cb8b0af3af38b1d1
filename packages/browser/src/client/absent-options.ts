import type { Property } from './values.ts';

/**
 * Options of what is not part of this system (session replay, surveys, heatmaps, product tours ...): taken, so that an
 * application that comes from PostHog's library compiles with them, and without any effect, as debug says.
 */
export interface AbsentOptions {
  advanced_disable_toolbar_metrics?: boolean;
  advanced_enable_surveys?: boolean;
  advanced_only_evaluate_survey_feature_flags?: boolean;
  capture_dead_clicks?: boolean | object;
  capture_heatmaps?: boolean | object;
  conversations?: object;
  disable_conversations?: boolean;
  disable_product_tours?: boolean;
  disable_surveys_automatic_display?: boolean;
  disable_web_experiments?: boolean;
  enable_heatmaps?: boolean;
  enable_recording_console_log?: boolean;
  logs?: object;
  opt_in_site_apps?: boolean;
  session_recording?: SessionRecordingOptions;
  surveys?: object;
  surveys_request_timeout_ms?: number;
}

type Mask = ((text: string, element?: HTMLElement) => string) | null;

/** Functions are named, so that their parameters have types. */
interface SessionRecordingOptions {
  maskInputFn?: Mask;
  maskTextFn?: Mask;
  maskAttributeFn?: ((name: string, value: string, element?: Element) => string) | null;
  maskCapturedNetworkRequestFn?: ((request: Property) => Property) | null;
  maskNetworkRequestFn?: ((request: Property) => Property) | null;
  [name: string]: Property;
}
