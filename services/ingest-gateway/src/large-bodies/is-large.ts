/** A body that is larger, on the wire or decompressed, is decoded and validated in another thread. */
const largeBytes = 256 * 1024;

export function isLarge(bytes: number): boolean {
  return bytes > largeBytes;
}
