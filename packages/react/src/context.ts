// The React context that passes the client to hooks and components.

import type { Bootstrap, Client } from '@millrace/browser';
import { createContext, useContext } from 'react';

let defaultInstance: PostHog | undefined;

/**
 * @internal Sets the default client. Only the main entry point calls this function. The slim one has no default client.
 */
export function setDefaultPostHogInstance(instance: PostHog | undefined): void {
  defaultInstance = instance;
}

/** Returns the default client. Hooks outside a provider use this client, and a provider with an `apiKey` starts it. */
export function getDefaultPostHogInstance(): PostHog | undefined {
  return defaultInstance;
}

/** The type of the client. It has the same name in PostHog's package. */
export type PostHog = Client;

export interface PostHogContextValue {
  /** The client. Although the type does not say so, it may be undefined at run time (see `usePostHog`). */
  client: PostHog;
  /** Flag values to use until the client has loaded flags. */
  bootstrap?: Bootstrap | undefined;
}

/** Outside a provider, `client` is the current default client. */
export const PostHogContext = createContext<PostHogContextValue>({
  get client() {
    return getDefaultPostHogInstance() as PostHog;
  },
});

/**
 * Returns the client. Its methods do nothing before the client has started. With the slim entry point, the client is
 * undefined outside a provider. As in PostHog's package, the return type omits `undefined`, because applications rely
 * on it. Where the client may be undefined, guard the call (`posthog?.capture(…)`).
 */
export function usePostHog(): PostHog {
  return useContext(PostHogContext).client as PostHog;
}
