/** The ways to send a subscription's reports (docs/api/subscriptions.md). */
export const subscriptionTargetTypes = ['email', 'slack', 'webhook'] as const;
export type SubscriptionTargetType = (typeof subscriptionTargetTypes)[number];

/**
 * Returns the targets that each get a separate report: every distinct email address, or the only webhook or Slack
 * channel.
 */
export function listSubscriptionTargets({
  target_type,
  target_value,
}: {
  target_type: string;
  target_value: string;
}): string[] {
  if (target_type !== 'email') return [target_value];
  const addresses = target_value.split(',').map((address) => address.trim());
  return [...new Set(addresses.filter((address) => address !== ''))];
}

const mask = '********';

/** Masks a URL that gives access to anyone who knows it. The host remains visible, and the path is hidden. */
export function maskUrl(address: string): string {
  try {
    const { protocol, host } = new URL(address);
    return `${protocol}//${host}/${mask}`;
  } catch {
    return mask;
  }
}

/** Masks a target if it is a URL. Email addresses and Slack channels are not secret. */
export function maskTarget(target: string): string {
  return /^\s*https?:/i.test(target) ? maskUrl(target) : target;
}

export function isMasked(text: string): boolean {
  return text.endsWith(mask);
}
