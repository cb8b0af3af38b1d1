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
