import type { InitOptions } from '@millrace/browser';
import { useEffect, useLayoutEffect, useRef } from 'react';
import { useStable } from '../utils/useStable.ts';
import type { PostHog } from './posthog.ts';
import { getDefaultPostHogInstance } from './posthog-default.ts';
import { alreadyLoaded, ignoredInFavourOfClient, neitherKeyNorClient, otherApiKey } from './provider-warnings.ts';

/** Comes before the effects of all that is below, where applications capture. Servers know of no layout, and complain. */
const useEarlyEffect = typeof window !== 'undefined' ? useLayoutEffect : useEffect;

/**
 * Starts the default client with the first key it gets and tells it of changed options. In an effect, so never on the
 * server, and once for each place in the page, although development runs effects twice.
 */
export function useDefaultClient(
  client: PostHog | undefined,
  apiKey: string | undefined,
  changingOptions: InitOptions | undefined,
): void {
  const options = useStable(changingOptions);
  const started = useRef<{ apiKey: string; options: InitOptions | undefined } | null>(null);
  const warned = useRef(new Set<string>());

  useEarlyEffect(() => {
    const warn = (warning: string) => {
      if (!warned.current.has(warning)) console.warn(`[PostHog.js] ${warning}`);
      warned.current.add(warning);
    };
    if (client) {
      if (apiKey) warn(ignoredInFavourOfClient('apiKey'));
      if (options) warn(ignoredInFavourOfClient('options'));
      return;
    }
    if (!apiKey) return warn(neitherKeyNorClient);
    const own = getDefaultPostHogInstance();
    const before = started.current;
    started.current = { apiKey: before?.apiKey ?? apiKey, options };
    if (!before) {
      if (own?.__loaded) warn(alreadyLoaded);
      own?.init(apiKey, options);
      return;
    }
    if (before.apiKey !== apiKey) warn(otherApiKey);
    if (options && before.options !== options) own?.set_config(options);
  }, [client, apiKey, options]);
}
