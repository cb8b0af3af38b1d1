import type { InitOptions } from '@millrace/browser';
import { createElement as h, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { PostHogFeature, PostHogProvider, useFeatureFlagVariantKey, usePostHog } from '../../src/index.ts';

declare global {
  /** Everything that was on the page, one after the other. */
  var texts: string[];
  function openShop(options: InitOptions): void;
}

function Shop() {
  const posthog = usePostHog();
  const price = String(useFeatureFlagVariantKey('price-test'));
  return h('button', { type: 'button', onClick: () => posthog.identify('ada') }, price);
}

/** An application with the package as it is installed: its own client, started by the provider. */
globalThis.openShop = (options) => {
  const element = document.body.appendChild(document.createElement('main'));
  globalThis.texts = [];
  new MutationObserver(() => texts.push(element.textContent ?? '')).observe(element, {
    ...{ childList: true, characterData: true, subtree: true },
  });
  const feature = h(PostHogFeature, { flag: 'price-test', match: 'green' }, h('p', null, ' New'));
  const app = h(PostHogProvider, { apiKey: 'phc_test', options }, h(Shop), feature);
  createRoot(element).render(h(StrictMode, null, app));
};
