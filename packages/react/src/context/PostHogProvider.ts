import type { InitOptions } from '@millrace/browser';
import { createElement, type ReactElement, type ReactNode, useMemo } from 'react';
import { useStable } from '../utils/useStable.ts';
import { PostHogContext } from './PostHogContext.ts';
import type { PostHog } from './posthog.ts';
import { getDefaultPostHogInstance } from './posthog-default.ts';
import { useDefaultClient } from './useDefaultClient.ts';

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
