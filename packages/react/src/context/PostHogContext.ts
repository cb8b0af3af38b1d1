import type { Bootstrap } from '@millrace/browser';
import { createContext } from 'react';
import { getDefaultPostHogInstance, type PostHog } from './posthog-default.ts';

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
