/** How reports of a subscription are sent (docs/api/subscriptions.md). */
export const subscriptionTargetTypes = ['email', 'slack', 'webhook'] as const;
export type SubscriptionTargetType = (typeof subscriptionTargetTypes)[number];

/** Everybody who gets a report of their own: each address of a list of e-mail addresses once, else the one target. */
export function targetsOf({ target_type, target_value }: { target_type: string; target_value: string }): string[] {
  if (target_type !== 'email') return [target_value];
  const addresses = target_value.split(',').map((address) => address.trim());
  return [...new Set(addresses.filter((address) => address !== ''))];
}

const mask = '********';

/** What is shown of an address with which whoever knows it may post: where it leads, and not the way. */
export function maskedAddress(address: string): string {
  try {
    const { protocol, host } = new URL(address);
    return `${protocol}//${host}/${mask}`;
  } catch {
    return mask;
  }
}

/** The same of a target: addresses of mail and channels of Slack are no secrets. */
export function maskedTarget(target: string): string {
  return /^\s*https?:/i.test(target) ? maskedAddress(target) : target;
}

/** Whether a text is what was shown in place of an address. */
export function isMasked(text: string): boolean {
  return text.endsWith(mask);
}
