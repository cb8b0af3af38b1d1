import { isObject } from '@millrace/contracts';
/**
 * PHP writes an array without entries as `[]`, also where an object is meant, and so does every SDK in it. In these
 * fields it is an empty object.
 */
export const objectFields = ['properties', '$set', '$set_once'] as const;
export const objectProperties = ['$set', '$set_once', '$groups', '$group_set'] as const;

type Fields = Record<string, unknown>;

/** Puts empty objects where empty arrays cannot be meant, in place. */
export function repairEmptyObjects(event: unknown): void {
  if (!isObject(event)) return;
  repair(event, objectFields);
  repairEmptyProperties(event.properties);
}

export function repairEmptyProperties(properties: unknown): void {
  if (isObject(properties)) repair(properties, objectProperties);
}

function repair(fields: Fields, names: readonly string[]): void {
  for (const name of names) {
    const value = fields[name];
    if (Array.isArray(value) && value.length === 0) fields[name] = {};
  }
}
