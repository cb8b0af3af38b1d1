import { isObject } from '@millrace/contracts';

/** The keys `$unset` names: an array of texts, or the keys of an object; the rest is ignored. */
export function unsetKeys(unset: unknown): string[] {
  if (Array.isArray(unset)) return unset.filter((key) => typeof key === 'string');
  return isObject(unset) ? Object.keys(unset) : [];
}
