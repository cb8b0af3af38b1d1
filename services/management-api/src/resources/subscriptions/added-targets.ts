import { targetsOf } from '@millrace/contracts';

interface Target {
  target_type: string;
  target_value: string;
}

/**
 * Who is told of a change: addresses that are new; any other target when it is another one
 * (docs/api-rules.md#subscriptions).
 */
export function addedTargets(before: Target, after: Target): string[] {
  const known = before.target_type === after.target_type ? new Set(targetsOf(before)) : new Set<string>();
  return targetsOf(after).filter((target) => !known.has(target));
}
