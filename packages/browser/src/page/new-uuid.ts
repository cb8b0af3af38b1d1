/** UUIDv7: begins with the time in milliseconds, so that ids made later sort later. */
export function newUuid(now = Date.now()): string {
  const [version = 0, variant = 0, ...rest] = crypto.getRandomValues(new Uint16Array(5));
  const words = [(version & 0xfff) | 0x7000, (variant & 0x3fff) | 0x8000, ...rest];
  const hex = now.toString(16).padStart(12, '0') + words.map((word) => word.toString(16).padStart(4, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
