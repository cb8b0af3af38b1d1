import { textForm } from '../values/text-form.ts';

/** The key of the group of a type that a request names, as text: a text or a number counts. Null when it names none. */
export function groupKeyOf(groups: Record<string, unknown>, typeName: string | undefined): string | null {
  const key = typeName === undefined || !Object.hasOwn(groups, typeName) ? undefined : groups[typeName];
  if (typeof key === 'number') return textForm(key);
  return typeof key === 'string' && key !== '' ? key : null;
}
