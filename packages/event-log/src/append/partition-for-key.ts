/**
 * The partition of a key: murmur2 over its UTF-8 bytes, as the Java client's default partitioner computes it, so that
 * every producer of a topic (ours, other languages', both adapters) puts one key into one partition.
 */
export function partitionForKey(key: Buffer, partitions: number): number {
  return (murmur2(key) & 0x7fffffff) % partitions;
}

/** MurmurHash2, 32 bit, with the seed Kafka uses. `Math.imul` instead of 64-bit arithmetic: it runs once per record. */
export function murmur2(bytes: Buffer): number {
  const m = 0x5bd1e995;
  const length = bytes.length;
  let hash = 0x9747b28c ^ length;
  let i = 0;
  for (; i + 4 <= length; i += 4) {
    let word = bytes.readInt32LE(i);
    word = Math.imul(word, m);
    word ^= word >>> 24;
    word = Math.imul(word, m);
    hash = Math.imul(hash, m) ^ word;
  }
  const rest = length - i;
  if (rest === 3) hash ^= (bytes[i + 2] ?? 0) << 16;
  if (rest >= 2) hash ^= (bytes[i + 1] ?? 0) << 8;
  if (rest >= 1) {
    hash ^= bytes[i] ?? 0;
    hash = Math.imul(hash, m);
  }
  hash ^= hash >>> 13;
  hash = Math.imul(hash, m);
  return hash ^ (hash >>> 15);
}
