/** The largest record ID that fits into a 32-bit column. */
const largestId = 2_147_483_647;

/**
 * Parses a record ID from a path or a filter: a number or its decimal digits. Rejects `"07"`, `"+7"`, `"7.0"` and
 * `[7]`, because code that checks the ID and code that uses it could interpret them differently.
 * @returns undefined if the value is not an ID
 */
export function parseRecordId(value: unknown): number | undefined {
  const id = typeof value === 'string' && /^[1-9]\d{0,9}$/.test(value) ? Number(value) : value;
  return typeof id === 'number' && Number.isInteger(id) && id > 0 && id <= largestId ? id : undefined;
}
