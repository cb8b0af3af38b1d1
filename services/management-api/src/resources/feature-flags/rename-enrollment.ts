import { isObject } from '@millrace/contracts';
import type { FlagFields } from './flag-row.ts';

const enrollmentOf = (key: string) => `$feature_enrollment/${key}`;

/** What persons chose lies under the key of the flag: the condition on it that older flags have follows a new key. */
export function renameEnrollment(fields: FlagFields, keyBefore: string): FlagFields {
  const { super_groups: superGroups } = fields.filters;
  if (fields.key === keyBefore || !Array.isArray(superGroups)) return fields;
  const renamed = superGroups.map((group: unknown) =>
    isObject(group) && Array.isArray(group.properties)
      ? { ...group, properties: group.properties.map((filter: unknown) => renameIn(filter, fields.key, keyBefore)) }
      : group,
  );
  return { ...fields, filters: { ...fields.filters, super_groups: renamed } };
}

function renameIn(filter: unknown, key: string, keyBefore: string): unknown {
  return isObject(filter) && filter.key === enrollmentOf(keyBefore) ? { ...filter, key: enrollmentOf(key) } : filter;
}
