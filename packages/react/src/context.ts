// The React context through which hooks and components find the client.

import type { Bootstrap, Client } from '@millrace/browser';
import { createContext, useContext } from 'react';

let defaultInstance: PostHog | undefined;

/** @internal The main entry passes the library's default client here. The slim entry sets no default. */
export function setDefaultPostHogInstance(instance: PostHog | undefined): void {
  defaultInstance = instance;
}

/** Returns the client that hooks use outside a provider, and that a provider with an `apiKey` starts. */
export function getDefaultPostHogInstance(): PostHog | undefined {
  return defaultInstance;
}

/** The client type under the name that applications import from PostHog's package. */
export type PostHog = Client;

export interface PostHogContextValue {
  /** Undefined when no client exists. The type leaves that out for the same reason as `usePostHog`. */
  client: PostHog;
  /** Flags that are used until the client has loaded its own. */
  bootstrap?: Bootstrap | undefined;
}

/** Outside a provider, the getter returns the default client that is set at the time of the read. */
export const PostHogContext = createContext<PostHogContextValue>({
  get client() {
    return getDefaultPostHogInstance() as PostHog;
  },
});

/**
 * Returns the client. Its methods do nothing before it has started. The client is undefined when no default is set:
 * with the slim entry, outside a provider. The type leaves that out because PostHog's hook does, and applications rely
 * on its type. Where it can happen, guard the call (`posthog?.capture(…)`).
 */
export function usePostHog(): PostHog {
  return useContext(PostHogContext).client as PostHog;
}
