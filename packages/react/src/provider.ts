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

/** Either a client that the application starts itself, or the key and options to start the default one with. */
export type PostHogProviderProps = { children?: ReactNode } & (
  | { client: PostHog | undefined; apiKey?: never; options?: never }
  | { apiKey: string; options?: InitOptions | undefined; client?: never }
);

/** Gives the client to all hooks and components below it. Children show at once, whether it has started or not. */
export function PostHogProvider({ children, client: ownClient, apiKey, options }: PostHogProviderProps): ReactElement {
  useDefaultClient(ownClient, apiKey, options);
  const client = (ownClient ?? getDefaultPostHogInstance()) as PostHog;
  // The same object while it says the same, or each render of the application would be one of every hook.
  const bootstrap = useStable(options?.bootstrap ?? client?.config?.bootstrap);
  const value = useMemo(() => ({ client, bootstrap }), [client, bootstrap]);
  return createElement(PostHogContext.Provider, { value }, children);
}

/** Comes before the effects of all that is below, where applications capture. Servers know of no layout, and complain. */
const useEarlyEffect = typeof window !== 'undefined' ? useLayoutEffect : useEffect;

/**
 * Starts the default client with the first key it gets and tells it of changed options. In an effect, so never on the
 * server, and once for each place in the page, although development runs effects twice.
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

// Word for word what applications know, and filter, from PostHog's provider; each is shown behind `[PostHog.js]`.

const ignoredInFavourOfClient = (property: 'apiKey' | 'options') =>
  `You have provided both \`client\` and \`${property}\` to \`PostHogProvider\`. \`${property}\` will be ignored in favour of \`client\`.`;

const neitherKeyNorClient =
  'No `apiKey` or `client` were provided to `PostHogProvider`. Using default global `window.posthog` instance. You must initialize it manually. This is not recommended behavior.';

const alreadyLoaded = '`posthog` was already loaded elsewhere. This may cause issues.';

const otherApiKey = 'You have provided a different `apiKey` to `PostHogProvider`. It will be ignored.';

/** The value of the first render that said the same, for comparing by identity what is written again in each render. */
function useStable<Value>(value: Value): Value {
  const [kept, keep] = useState({ value });
  if (isDeepEqual(kept.value, value)) return kept.value;
  keep({ value });
  return value;
}
