/** Takes chunks until they are more than `maxBytes`, or all there are. What is left stays in the iterator. */
export function takeChunks(chunks: Iterator<Buffer>, maxBytes: number): { taken: Buffer[]; isAll: boolean } {
  const taken: Buffer[] = [];
  let bytes = 0;
  for (let next = chunks.next(); !next.done; next = chunks.next()) {
    taken.push(next.value);
    bytes += next.value.length;
    if (bytes > maxBytes) return { taken, isAll: false };
  }
  return { taken, isAll: true };
}
