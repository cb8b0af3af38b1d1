export { captureFeatureInteraction, captureFeatureView } from './capture-feature.ts';
export { PostHogCaptureOnViewed, type PostHogCaptureOnViewedProps } from './PostHogCaptureOnViewed.ts';
export {
  PostHogErrorBoundary,
  type PostHogErrorBoundaryFallbackProps,
  type PostHogErrorBoundaryProps,
} from './PostHogErrorBoundary.ts';
export { PostHogFeature, type PostHogFeatureProps } from './PostHogFeature.ts';
