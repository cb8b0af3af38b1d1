import { isObject } from '@millrace/contracts';

/** One changed field as an activity record shows it (docs/api/activity.md). */
export interface FieldChange {
  /** Scope of the record, as on the activity. */
  type: string;
  /** `created`: there was nothing before; `deleted`: there is nothing now. */
  action: 'created' | 'changed' | 'deleted';
  field: string;
  before: unknown;
  after: unknown;
}

/** Never worth a record, or recorded in a way of their own (`api_token` by `reset_token`). */
const unlogged = new Set(['id', 'uuid', 'created_at', 'updated_at', 'api_token']);

/**
 * What differs between two states of a record, field by field, in the order of `after`. Fields that only one of the
 * states has are left out: they were not looked at.
 *
 * @param secret fields that show that they changed, and not to what.
 */
export function changedFields(
  type: string,
  { before, after, secret = [] }: { before: object; after: object; secret?: readonly string[] },
): FieldChange[] {
  const was = before as Record<string, unknown>;
  return Object.entries(after).flatMap(([field, value]) => {
    if (unlogged.has(field) || !Object.hasOwn(was, field) || isSame(was[field], value)) return [];
    const isSecret = secret.includes(field);
    return [
      {
        type,
        action: isNothing(was[field]) ? 'created' : isNothing(value) ? 'deleted' : 'changed',
        field,
        before: isSecret ? null : shown(was[field]),
        after: isSecret ? null : shown(value),
      } as const,
    ];
  });
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined;
}

function shown(value: unknown): unknown {
  return value === undefined ? null : value;
}

/** JSON objects are the same whatever the order of their keys: the database does not keep it. */
function isSame(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other);
}

function canonical(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}
