/** How reports of a subscription are sent (docs/api-rules.md#subscriptions). */
export const subscriptionTargetTypes = ['email', 'slack', 'webhook'] as const;
export type SubscriptionTargetType = (typeof subscriptionTargetTypes)[number];

/** Everybody who gets a report of their own: each address of a list of e-mail addresses once, else the one target. */
export function targetsOf({ target_type, target_value }: { target_type: string; target_value: string }): string[] {
  if (target_type !== 'email') return [target_value];
  const addresses = target_value.split(',').map((address) => address.trim());
  return [...new Set(addresses.filter((address) => address !== ''))];
}
