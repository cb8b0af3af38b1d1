/** UUIDv7: begins with the time in milliseconds, so that ids made later sort later. */
export function newUuid(now = Date.now()): string {
  const [version = 0, second = 0, variant = 0, ...rest] = crypto.getRandomValues(new Uint8Array(10));
  const bytes = [(version & 15) | 0x70, second, (variant & 63) | 0x80, ...rest];
  const hex = now.toString(16).padStart(12, '0') + bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
