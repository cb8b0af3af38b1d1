export { useActiveFeatureFlags } from './useActiveFeatureFlags.ts';
export { useFeatureFlagEnabled } from './useFeatureFlagEnabled.ts';
export { useFeatureFlagPayload } from './useFeatureFlagPayload.ts';
export { useFeatureFlagResult } from './useFeatureFlagResult.ts';
export { useFeatureFlagVariantKey } from './useFeatureFlagVariantKey.ts';
export { usePostHog } from './usePostHog.ts';
