import { createElement, type ReactElement, type ReactNode, useMemo } from 'react';
import { type PostHog, PostHogContext } from './context.ts';

/**
 * The provider of the slim entry. It passes on a client that the application has created, and does not include one
 * itself.
 */
export function PostHogProvider({ client, children }: { client: PostHog; children?: ReactNode }): ReactElement {
  const value = useMemo(() => ({ client, bootstrap: client.config?.bootstrap }), [client]);
  return createElement(PostHogContext.Provider, { value }, children);
}

export * from './shared.ts';
export { PostHogProvider as MillraceProvider };
