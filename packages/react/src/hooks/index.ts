export {
  useActiveFeatureFlags,
  useFeatureFlagEnabled,
  useFeatureFlagPayload,
  useFeatureFlagResult,
  useFeatureFlagVariantKey,
} from './feature-flags.ts';
export { usePostHog } from './usePostHog.ts';
