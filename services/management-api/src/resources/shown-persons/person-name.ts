import { cutToCodePoints } from '@millrace/contracts';

/** Properties that name a person, the first that is set wins (the reference's default for display names). */
const nameProperties = ['email', 'name', 'username'];

/** Longer texts are no names; they stand in the properties as a whole. */
const maxLength = 400;

/** What to call a person in a list. */
export function personName(properties: Record<string, unknown>, mainDistinctId: string): string {
  for (const property of nameProperties) {
    const value = properties[property];
    if (typeof value === 'string' && value.trim() !== '') return cutToCodePoints(value, maxLength);
    if (typeof value === 'number') return String(value);
  }
  return mainDistinctId;
}
