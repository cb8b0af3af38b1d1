import { randomUUID } from 'node:crypto';
import { cookies } from 'next/headers';
import { PostHog } from 'posthog-node';
import { cache } from 'react';

const key = process.env.NEXT_PUBLIC_POSTHOG_KEY;
const posthog = new PostHog(key, { host: process.env.NEXT_PUBLIC_POSTHOG_HOST });

/** The visitor's distinct ID and flags, evaluated once per request. */
export const getVisitor = cache(async () => {
  const distinctID = storedId((await cookies()).get(`ph_${key}_posthog`)?.value) ?? randomUUID();
  const { featureFlags, featureFlagPayloads } = await posthog.getAllFlagsAndPayloads(distinctID);
  return { distinctID, featureFlags, featureFlagPayloads };
});

/**
 * Parses the cookie in which posthog-js stores the distinct ID as JSON. Visitors can change their cookies, so the
 * content may be invalid.
 */
function storedId(cookie) {
  try {
    const { distinct_id } = JSON.parse(cookie);
    return typeof distinct_id === 'string' ? distinct_id : undefined;
  } catch {
    return undefined;
  }
}
