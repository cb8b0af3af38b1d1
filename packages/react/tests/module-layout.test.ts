import { existsSync } from 'node:fs';

/**
 * The modules that PostHog's own tests of its React package import by their relative paths, and what of them: with this
 * layout those tests run against this package (with `posthog-js` as an alias of the client).
 */
const modules: [string, string[]][] = [
  ['context/index', ['PostHogContext', 'PostHogProvider']],
  ['context/PostHogContext', ['PostHogContext']],
  ['context/PostHogProvider', ['PostHogProvider']],
  ['context/PostHogProviderSlim', ['PostHogProvider']],
  ['context/posthog-default', ['setDefaultPostHogInstance', 'getDefaultPostHogInstance']],
  [
    'hooks/index',
    [
      'usePostHog',
      'useFeatureFlagEnabled',
      'useFeatureFlagVariantKey',
      'useFeatureFlagPayload',
      'useFeatureFlagResult',
      'useActiveFeatureFlags',
    ],
  ],
  ['hooks/useThumbSurvey', ['useThumbSurvey']],
  [
    'components/index',
    [
      'PostHogFeature',
      'PostHogCaptureOnViewed',
      'PostHogErrorBoundary',
      'captureFeatureInteraction',
      'captureFeatureView',
    ],
  ],
  ['components/PostHogErrorBoundary', ['PostHogErrorBoundary', '__POSTHOG_ERROR_MESSAGES']],
  ['components/internal/VisibilityAndClickTracker', ['VisibilityAndClickTracker']],
  ['components/internal/VisibilityAndClickTrackers', ['VisibilityAndClickTrackers']],
  ['helpers/error-helpers', ['setupReactErrorHandler']],
  ['helpers/react-component-stack', ['addReactComponentStack']],
  ['utils/type-utils', ['isFunction', 'isUndefined', 'isNull']],
  ['utils/object-utils', ['isDeepEqual']],
];

it.each(modules)('src/%s exports %j', async (path, names) => {
  const file = new URL(`../src/${path}.ts`, import.meta.url);
  expect(existsSync(file)).toBe(true);
  expect(Object.keys((await import(file.pathname)) as object)).toEqual(expect.arrayContaining(names));
});

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
])('%s exports what PostHog exports, and our names for it', async (entry, names) => {
  expect(Object.keys((await import(entry)) as object).sort()).toEqual([...names].sort());
});
