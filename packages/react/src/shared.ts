/** What both entries export beside their provider, each also by our own name. */
export {
  captureFeatureInteraction,
  captureFeatureView,
  PostHogCaptureOnViewed,
  PostHogCaptureOnViewed as MillraceCaptureOnViewed,
  type PostHogCaptureOnViewedProps,
  PostHogErrorBoundary,
  PostHogErrorBoundary as MillraceErrorBoundary,
  type PostHogErrorBoundaryFallbackProps,
  type PostHogErrorBoundaryProps,
  PostHogFeature,
  PostHogFeature as MillraceFeature,
  type PostHogFeatureProps,
} from './components/index.ts';
export { PostHogContext, PostHogContext as MillraceContext } from './context/PostHogContext.ts';
export type { PostHog } from './context/posthog-default.ts';
export { setupReactErrorHandler } from './helpers/error-helpers.ts';
export {
  useActiveFeatureFlags,
  useFeatureFlagEnabled,
  useFeatureFlagPayload,
  useFeatureFlagResult,
  useFeatureFlagVariantKey,
  usePostHog,
  usePostHog as useMillrace,
} from './hooks/index.ts';
