// The provider, which passes the client to all hooks and components inside it.

import type { InitOptions } from '@millrace/browser';
import {
  createElement,
  type ReactElement,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { getDefaultPostHogInstance, type PostHog, PostHogContext } from './context.ts';
import { isDeepEqual } from './values.ts';

/** Either a client that the application starts, or the API key and options for starting the default client. */
export type PostHogProviderProps = { children?: ReactNode } & (
  | { client: PostHog | undefined; apiKey?: never; options?: never }
  | { apiKey: string; options?: InitOptions | undefined; client?: never }
);

/**
 * Passes the client to all hooks and components inside the provider. The children are rendered immediately, even before
 * the client has started.
 */
export function PostHogProvider({ children, client: ownClient, apiKey, options }: PostHogProviderProps): ReactElement {
  useDefaultClient(ownClient, apiKey, options);
  const client = (ownClient ?? getDefaultPostHogInstance()) as PostHog;
  // Keep the same object while its content is equal. Otherwise, every render of the application would render all
  // components with hooks again.
  const bootstrap = useStable(options?.bootstrap ?? client?.config?.bootstrap);
  const value = useMemo(() => ({ client, bootstrap }), [client, bootstrap]);
  return createElement(PostHogContext.Provider, { value }, children);
}

/**
 * A layout effect runs before the effects of the children, so the client starts before a child can capture an event. On
 * a server, use a normal effect, because React warns about layout effects there.
 */
const useEarlyEffect = typeof window !== 'undefined' ? useLayoutEffect : useEffect;

/**
 * Starts the default client with the first API key, and passes changed options to it. This runs in an effect, and
 * therefore never on a server. The client starts only once per mounted provider, although React runs effects twice in
 * development mode.
 */
function useDefaultClient(
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

// These warnings are identical to those of PostHog's provider, because applications filter their console output by
// these texts. Each warning is logged with the prefix `[PostHog.js]`.

const ignoredInFavourOfClient = (property: 'apiKey' | 'options') =>
  `You have provided both \`client\` and \`${property}\` to \`PostHogProvider\`. \`${property}\` will be ignored in favour of \`client\`.`;

const neitherKeyNorClient =
  'No `apiKey` or `client` were provided to `PostHogProvider`. Using default global `window.posthog` instance. You must initialize it manually. This is not recommended behavior.';

const alreadyLoaded = '`posthog` was already loaded elsewhere. This may cause issues.';

const otherApiKey = 'You have provided a different `apiKey` to `PostHogProvider`. It will be ignored.';

/**
 * Returns the same object for as long as the values are equal. A value that is written inline, and therefore created
 * again in each render, can then be compared by identity.
 */
function useStable<Value>(value: Value): Value {
  const [stable, setStable] = useState({ value });
  if (isDeepEqual(stable.value, value)) return stable.value;
  setStable({ value });
  return value;
}
