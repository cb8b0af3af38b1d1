import { createElement, type ReactElement, type ReactNode, useMemo } from 'react';
import { type PostHog, PostHogContext } from './context.ts';

/** The slim entry's provider. It passes on the application's client, and does not include a client. */
export function PostHogProvider({ client, children }: { client: PostHog; children?: ReactNode }): ReactElement {
  const value = useMemo(() => ({ client, bootstrap: client.config?.bootstrap }), [client]);
  return createElement(PostHogContext.Provider, { value }, children);
}

export * from './shared.ts';
export { PostHogProvider as MillraceProvider };
