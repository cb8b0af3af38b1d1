/** A client's uuid in its usual form: lower case with hyphens. @param uuid in one of the forms that are taken. */
export function toCanonicalUuid(uuid: string): string {
  const lower = uuid.toLowerCase();
  if (lower.length === 36) return lower;
  const digits = lower.replace('urn:uuid:', '').replace(/[{}-]/g, '');
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join(
    '-',
  );
}
