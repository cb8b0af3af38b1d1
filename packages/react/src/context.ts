// The React context through which hooks and components find the client.

import type { Bootstrap, Client } from '@millrace/browser';
import { createContext, useContext } from 'react';

let defaultInstance: PostHog | undefined;

/** @internal Sets the default client. Only the main entry calls this. The slim entry sets no default. */
export function setDefaultPostHogInstance(instance: PostHog | undefined): void {
  defaultInstance = instance;
}

/** Returns the client that hooks use outside a provider, and that a provider with an `apiKey` starts. */
export function getDefaultPostHogInstance(): PostHog | undefined {
  return defaultInstance;
}

/** The type of the client, under the name that applications import from PostHog's package. */
export type PostHog = Client;

export interface PostHogContextValue {
  /**
   * The client. It is undefined at run time if there is none, which the type leaves out for the same reason as
   * `usePostHog`.
   */
  client: PostHog;
  /** Flags to use until the client has loaded its own. */
  bootstrap?: Bootstrap | undefined;
}

/** Outside a provider, the getter returns the client that is the default when it is read. */
export const PostHogContext = createContext<PostHogContextValue>({
  get client() {
    return getDefaultPostHogInstance() as PostHog;
  },
});

/**
 * Returns the client. Its methods do nothing until it has started. With the slim entry and outside a provider, the
 * client is undefined. The type leaves that out because the type of PostHog's hook does, and applications rely on it.
 * Where this can happen, guard the call (`posthog?.capture(…)`).
 */
export function usePostHog(): PostHog {
  return useContext(PostHogContext).client as PostHog;
}
