import { useContext } from 'react';
import { PostHogContext } from '../context/PostHogContext.ts';
import type { PostHog } from '../context/posthog-default.ts';

/**
 * The client. Before it has started, its members do nothing. Undefined where there is none at all: with the slim entry,
 * outside a provider. The type leaves that out, as applications have it from PostHog's hook; where it can happen, guard
 * the call (`posthog?.capture(…)`).
 */
export function usePostHog(): PostHog {
  return useContext(PostHogContext).client as PostHog;
}
