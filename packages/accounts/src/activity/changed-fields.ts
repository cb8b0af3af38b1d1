import { isObject } from '@millrace/contracts';

/** A changed field in an activity record (docs/api/activity.md). */
export interface FieldChange {
  /** The activity's scope. The API repeats it for each changed field. */
  type: string;
  /** `created` means that the field had no value before, and `deleted` that it has no value now. */
  action: 'created' | 'changed' | 'deleted';
  field: string;
  before: unknown;
  after: unknown;
}

/**
 * Fields that this comparison skips. Some are never recorded. Others are recorded by a separate function: for example,
 * `resetProjectToken` records `api_token`.
 */
const unlogged = new Set(['id', 'uuid', 'created_at', 'updated_at', 'api_token']);

/**
 * Compares two versions of a record and returns the changed fields in the order of `after`. Ignores fields that only
 * one version contains.
 * @param secret the fields to report without their values
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
        before: isSecret ? null : jsonValue(was[field]),
        after: isSecret ? null : jsonValue(value),
      } as const,
    ];
  });
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined;
}

function jsonValue(value: unknown): unknown {
  return value === undefined ? null : value;
}

/** Returns whether two JSON values are equal. Ignores key order, because the database does not preserve it. */
function isSame(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other);
}

function canonical(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}
