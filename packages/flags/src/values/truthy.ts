/** `true`, the text "true" in any case, or a list of nothing else. */
export function isTruthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isTruthy);
  return value === true || (typeof value === 'string' && value.toLowerCase() === 'true');
}

/** A boolean, its text in any case, or a list of nothing else. */
export function isBooleanLike(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isBooleanLike);
  return typeof value === 'boolean' || (typeof value === 'string' && /^(?:true|false)$/i.test(value));
}
