'use client';

import posthog from 'posthog-js';
import { PostHogProvider } from 'posthog-js/react';
import { useState } from 'react';

export function Analytics({ visitor, children }) {
  // Initialize before the first render in the browser, so that hooks can read flags.
  useState(() => {
    if (typeof window === 'undefined') return;
    posthog.init(process.env.NEXT_PUBLIC_POSTHOG_KEY, {
      api_host: process.env.NEXT_PUBLIC_POSTHOG_HOST,
      bootstrap: visitor,
      capture_pageview: 'history_change',
    });
  });
  return <PostHogProvider client={posthog}>{children}</PostHogProvider>;
}
