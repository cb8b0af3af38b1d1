import { randomUUID } from 'node:crypto';
import { cookies } from 'next/headers';
import { PostHog } from 'posthog-node';
import { cache } from 'react';

const key = process.env.NEXT_PUBLIC_POSTHOG_KEY;
const posthog = new PostHog(key, { host: process.env.NEXT_PUBLIC_POSTHOG_HOST });

/** The distinct ID and the flags of the visitor, evaluated once per request. */
export const getVisitor = cache(async () => {
  const distinctID = storedId((await cookies()).get(`ph_${key}_posthog`)?.value) ?? randomUUID();
  const { featureFlags, featureFlagPayloads } = await posthog.getAllFlagsAndPayloads(distinctID);
  return { distinctID, featureFlags, featureFlagPayloads };
});

/** posthog-js stores the distinct ID in a cookie as JSON. Visitors can change their cookies, so it may be anything. */
function storedId(cookie) {
  try {
    const { distinct_id } = JSON.parse(cookie);
    return typeof distinct_id === 'string' ? distinct_id : undefined;
  } catch {
    return undefined;
  }
}
