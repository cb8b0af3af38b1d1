/**
 * Milliseconds since the epoch of an ISO 8601 time with a zone, or null. The gateway has already understood the many
 * spellings clients use and writes this one; anything else, and a year no calendar column holds, is not guessed at
 * (docs/wire-rules.md#times).
 */
export function parseTimestamp(text: string): number | null {
  if (!isoTime.test(text)) return null;
  const ms = Date.parse(text);
  return ms >= firstMs && ms <= lastMs ? ms : null;
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

const firstMs = Date.parse('0001-01-01T00:00:00.000Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');
