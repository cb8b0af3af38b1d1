import type { Bootstrap } from '@millrace/browser';
import { createElement as h, type ReactElement } from 'react';
import { PostHogProvider } from '../../src/provider.ts';
import {
  PostHogFeature,
  useActiveFeatureFlags,
  useFeatureFlagEnabled,
  useFeatureFlagPayload,
  useFeatureFlagResult,
  useFeatureFlagVariantKey,
} from '../../src/shared.ts';

/** An application for server rendering and hydration tests. It uses every hook and the feature component. */
export function serverTree(bootstrap: Bootstrap | undefined): ReactElement {
  const options = { api_host: 'https://events.example', ...(bootstrap && { bootstrap }) };
  return h(
    PostHogProvider,
    { apiKey: 'phc_1', options },
    h(Hooks),
    h(PostHogFeature, { flag: 'test', match: 'blue', fallback: h('p', null, 'Old') }, h('p', null, 'New')),
  );
}

function Hooks(): ReactElement {
  const shown = [
    useFeatureFlagEnabled('test', false),
    useFeatureFlagVariantKey('test'),
    useFeatureFlagPayload('test'),
    useFeatureFlagResult('test')?.enabled,
    useActiveFeatureFlags(),
  ];
  return h('i', null, JSON.stringify(shown));
}
