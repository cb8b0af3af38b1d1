/** Returns true if a value is a JSON object. Null and arrays are not JSON objects. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
