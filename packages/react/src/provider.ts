// The provider that gives the client to all hooks and components below it.

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

/** Either a client that the application starts, or the key and options with which to start the default client. */
export type PostHogProviderProps = { children?: ReactNode } & (
  | { client: PostHog | undefined; apiKey?: never; options?: never }
  | { apiKey: string; options?: InitOptions | undefined; client?: never }
);

/**
 * Provides the client to all hooks and components below it. Children render immediately, even before the client has
 * started.
 */
export function PostHogProvider({ children, client: ownClient, apiKey, options }: PostHogProviderProps): ReactElement {
  useDefaultClient(ownClient, apiKey, options);
  const client = (ownClient ?? getDefaultPostHogInstance()) as PostHog;
  // This value keeps its identity while its content is equal. Otherwise, every render of the application would render
  // every hook again.
  const bootstrap = useStable(options?.bootstrap ?? client?.config?.bootstrap);
  const value = useMemo(() => ({ client, bootstrap }), [client, bootstrap]);
  return createElement(PostHogContext.Provider, { value }, children);
}

/**
 * A layout effect runs before the normal effects of the children, which may capture events. On a server, React would
 * only log a warning about it.
 */
const useEarlyEffect = typeof window !== 'undefined' ? useLayoutEffect : useEffect;

/**
 * Starts the default client with the first key, and passes changed options to it. This happens in an effect, so never
 * on a server. The client starts only once per mounted provider, although development mode runs effects twice.
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

// These warnings match those of PostHog's provider word for word, because applications filter them. Each is logged with
// the prefix `[PostHog.js]`.

const ignoredInFavourOfClient = (property: 'apiKey' | 'options') =>
  `You have provided both \`client\` and \`${property}\` to \`PostHogProvider\`. \`${property}\` will be ignored in favour of \`client\`.`;

const neitherKeyNorClient =
  'No `apiKey` or `client` were provided to `PostHogProvider`. Using default global `window.posthog` instance. You must initialize it manually. This is not recommended behavior.';

const alreadyLoaded = '`posthog` was already loaded elsewhere. This may cause issues.';

const otherApiKey = 'You have provided a different `apiKey` to `PostHogProvider`. It will be ignored.';

/**
 * Returns the first one of several equal values, so that values which are written inline in each render can be compared
 * by identity.
 */
function useStable<Value>(value: Value): Value {
  const [stable, setStable] = useState({ value });
  if (isDeepEqual(stable.value, value)) return stable.value;
  setStable({ value });
  return value;
}
