import type { TargetType } from './subscription-schema.ts';

interface Target {
  target_type: TargetType;
  target_value: string;
}

/** Everybody who gets a report of their own: each e-mail address once, else the one target. */
export function targetsOf({ target_type, target_value }: Target): string[] {
  if (target_type !== 'email') return [target_value];
  const addresses = target_value.split(',').map((address) => address.trim());
  return [...new Set(addresses.filter((address) => address !== ''))];
}

/** Who is told of a change: addresses that are new; any other target when it is another one (reference/management-api.md 9.5). */
export function addedTargets(before: Target, after: Target): string[] {
  const known = before.target_type === after.target_type ? new Set(targetsOf(before)) : new Set<string>();
  return targetsOf(after).filter((target) => !known.has(target));
}
