const shared = [
  'PostHogContext',
  'PostHogProvider',
  'usePostHog',
  'useFeatureFlagEnabled',
  'useFeatureFlagVariantKey',
  'useFeatureFlagPayload',
  'useFeatureFlagResult',
  'useActiveFeatureFlags',
  'PostHogFeature',
  'captureFeatureInteraction',
  'captureFeatureView',
  'PostHogCaptureOnViewed',
  'PostHogErrorBoundary',
  'setupReactErrorHandler',
];
const ownNames = [
  'MillraceContext',
  'MillraceProvider',
  'useMillrace',
  'MillraceFeature',
  'MillraceCaptureOnViewed',
  'MillraceErrorBoundary',
];

it.each([
  ['@millrace/react', [...shared, ...ownNames]],
  ['@millrace/react/slim', [...shared, ...ownNames]],
  ['@millrace/react/surveys', ['useThumbSurvey']],
])("%s exports PostHog's names and the Millrace names", async (entry, names) => {
  expect(Object.keys((await import(entry)) as object).sort()).toEqual([...names].sort());
});
