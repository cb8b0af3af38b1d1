/**
 * Memory for buffers that are short-lived and let go about together, such as the records of a moment. Node's own pool is
 * used up after three events of 2 KB, and a new one costs as much as writing them.
 *
 * @param bytes of one slab; what is larger than a quarter of it gets memory of its own.
 * @returns gives memory of exactly a size, with anything in it.
 */
export function createSlab(bytes: number): (size: number) => Buffer {
  let slab = Buffer.allocUnsafeSlow(bytes);
  let used = 0;
  return (size) => {
    if (size > bytes / 4) return Buffer.allocUnsafeSlow(size);
    if (used + size > bytes) {
      slab = Buffer.allocUnsafeSlow(bytes);
      used = 0;
    }
    used += size;
    return slab.subarray(used - size, used);
  };
}
