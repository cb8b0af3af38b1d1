import type { InitOptions } from '@millrace/browser';
import { createElement as h, type ReactNode, StrictMode, useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import {
  PostHogErrorBoundary,
  PostHogFeature,
  PostHogProvider,
  useFeatureFlagVariantKey,
  usePostHog,
} from '../../src/index.ts';

declare global {
  var texts: string[];
  function openShop(options: InitOptions): void;
  function openBrokenShop(options: InitOptions): void;
}

function Shop() {
  const posthog = usePostHog();
  useEffect(() => void posthog.capture('shop opened'), [posthog]);
  const price = String(useFeatureFlagVariantKey('price-test'));
  return h('button', { type: 'button', onClick: () => posthog.identify('ada') }, price);
}

/** Opens an application that uses the built package. Its provider starts the default client. */
function open(options: InitOptions, ...children: ReactNode[]): void {
  const element = document.body.appendChild(document.createElement('main'));
  globalThis.texts = [];
  new MutationObserver(() => texts.push(element.textContent ?? '')).observe(element, {
    ...{ childList: true, characterData: true, subtree: true },
  });
  const app = h(PostHogProvider, { apiKey: 'phc_test', options }, ...children);
  createRoot(element).render(h(StrictMode, null, app));
}

globalThis.openShop = (options) => {
  open(options, h(Shop), h(PostHogFeature, { flag: 'price-test', match: 'green' }, h('p', null, ' New')));
};

globalThis.openBrokenShop = (options) => {
  const Broken = () => {
    throw new Error('No shop today');
  };
  const fallback = ({ exceptionEvent }: { exceptionEvent: unknown }) =>
    h('p', null, (exceptionEvent as { event?: string } | undefined)?.event);
  open(options, h(PostHogErrorBoundary, { fallback }, h(Broken)));
};
