/**
 * Memory for buffers that live for a short time and are freed together, such as the records of a moment. Node's own
 * pool is used up after three events of 2 KB, and a new block costs as much as writing them:
 * shared blocks take four per cent of the time of single events and of batches (`npm run bench -- gateway`).
 *
 * @param bytes of one block of memory; what is larger than a quarter of it gets memory of its own.
 * @returns gives memory of exactly a size, with anything in it.
 */
export function createBufferPool(bytes: number): (size: number) => Buffer {
  let block = Buffer.allocUnsafeSlow(bytes);
  let used = 0;
  return (size) => {
    if (size > bytes / 4) return Buffer.allocUnsafeSlow(size);
    if (used + size > bytes) {
      block = Buffer.allocUnsafeSlow(bytes);
      used = 0;
    }
    used += size;
    return block.subarray(used - size, used);
  };
}
