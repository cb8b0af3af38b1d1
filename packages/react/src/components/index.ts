export { PostHogCaptureOnViewed, type PostHogCaptureOnViewedProps } from './PostHogCaptureOnViewed.ts';
export {
  PostHogErrorBoundary,
  type PostHogErrorBoundaryFallbackProps,
  type PostHogErrorBoundaryProps,
} from './PostHogErrorBoundary.ts';
export {
  captureFeatureInteraction,
  captureFeatureView,
  PostHogFeature,
  type PostHogFeatureProps,
} from './PostHogFeature.ts';
