import type { Bootstrap, Client } from '@millrace/browser';
import { createContext, useContext } from 'react';

let defaultInstance: PostHog | undefined;

/** @internal Called by the main entry with the library's own client; the slim entry has none. */
export function setDefaultPostHogInstance(instance: PostHog | undefined): void {
  defaultInstance = instance;
}

/** The client of hooks without a provider, and the one a provider with an `apiKey` starts. */
export function getDefaultPostHogInstance(): PostHog | undefined {
  return defaultInstance;
}

/** The client, by the name applications import it by. */
export type PostHog = Client;

export interface PostHogContextValue {
  /** Undefined where there is none at all, which the type leaves out as `usePostHog` does. */
  client: PostHog;
  /** Flags the page was given, used until the client has loaded its own. */
  bootstrap?: Bootstrap | undefined;
}

/** Without a provider: the default client, whenever it is asked for. */
export const PostHogContext = createContext<PostHogContextValue>({
  get client() {
    return getDefaultPostHogInstance() as PostHog;
  },
});

/**
 * The client. Before it has started, its members do nothing. Undefined where there is none at all: with the slim entry,
 * outside a provider. The type leaves that out, as applications have it from PostHog's hook; where it can happen, guard
 * the call (`posthog?.capture(…)`).
 */
export function usePostHog(): PostHog {
  return useContext(PostHogContext).client as PostHog;
}
