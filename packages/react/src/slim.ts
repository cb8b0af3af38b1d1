import { createElement, type ReactElement, type ReactNode, useMemo } from 'react';
import { type PostHog, PostHogContext } from './context.ts';

/** The provider of the slim entry point. It requires a client from the application, because it does not include one. */
export function PostHogProvider({ client, children }: { client: PostHog; children?: ReactNode }): ReactElement {
  const value = useMemo(() => ({ client, bootstrap: client.config?.bootstrap }), [client]);
  return createElement(PostHogContext.Provider, { value }, children);
}

export * from './shared.ts';
export { PostHogProvider as MillraceProvider };
