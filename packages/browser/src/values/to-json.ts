/** JSON as the standard has it: old frameworks gave arrays a `toJSON` of their own, which makes them text. */
export function toJson(value: unknown): string {
  const arrays = Array.prototype as { toJSON?: unknown };
  const { toJSON } = arrays;
  if (!toJSON) return JSON.stringify(value);
  delete arrays.toJSON;
  try {
    return JSON.stringify(value);
  } finally {
    arrays.toJSON = toJSON;
  }
}
