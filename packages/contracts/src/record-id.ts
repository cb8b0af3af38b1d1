/** The largest id of a record: what a 32-bit column holds. */
const largestId = 2_147_483_647;

/**
 * The id of a record as an address or a filter writes it: a number, or its decimal digits. `"07"`, `"+7"`, `"7.0"` and `[7]` name
 * nothing, so that what is checked and what is used cannot be two records.
 * @returns undefined for everything else.
 */
export function parseRecordId(value: unknown): number | undefined {
  const id = typeof value === 'string' && /^[1-9]\d{0,9}$/.test(value) ? Number(value) : value;
  return typeof id === 'number' && Number.isInteger(id) && id > 0 && id <= largestId ? id : undefined;
}
