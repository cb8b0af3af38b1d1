/** All exports of both entry points, except their providers. Each export has PostHog's name and a Millrace name. */
export {
  type PostHog,
  PostHogContext,
  PostHogContext as MillraceContext,
  usePostHog,
  usePostHog as useMillrace,
} from './context.ts';
export {
  PostHogErrorBoundary,
  PostHogErrorBoundary as MillraceErrorBoundary,
  type PostHogErrorBoundaryFallbackProps,
  type PostHogErrorBoundaryProps,
  setupReactErrorHandler,
} from './errors.ts';
export {
  captureFeatureInteraction,
  captureFeatureView,
  PostHogFeature,
  PostHogFeature as MillraceFeature,
  type PostHogFeatureProps,
} from './feature.ts';
export {
  useActiveFeatureFlags,
  useFeatureFlagEnabled,
  useFeatureFlagPayload,
  useFeatureFlagResult,
  useFeatureFlagVariantKey,
} from './feature-flags.ts';
export {
  PostHogCaptureOnViewed,
  PostHogCaptureOnViewed as MillraceCaptureOnViewed,
  type PostHogCaptureOnViewedProps,
} from './viewed.ts';
