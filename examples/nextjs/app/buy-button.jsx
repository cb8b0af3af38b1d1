'use client';

import { usePostHog } from 'posthog-js/react';

export function BuyButton() {
  const posthog = usePostHog();
  return (
    <button type="button" onClick={() => posthog.capture('order placed', { total: 42, currency: 'EUR' })}>
      Buy now
    </button>
  );
}
