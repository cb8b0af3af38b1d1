/** One line of a file, without its line break. */
export interface Line {
  /** From 1. */
  number: number;
  /** Null when it is longer than `maxLineBytes`; then only its beginning was held in memory. */
  bytes: Buffer | null;
  /** What a fingerprint is made of: the line as it stands in the file; of one that is too long, beginning and length. */
  raw: readonly Buffer[];
  /** Where the next line begins, counted in bytes of the (unpacked) file. */
  endOffset: number;
}

const lineBreak = 0x0a;
const carriageReturn = 0x0d;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Splits a file into lines, as many at a time as a chunk holds. The last one need not end with a line break. */
export async function* readLines(chunks: AsyncIterable<Buffer>, maxLineBytes: number): AsyncGenerator<Line[]> {
  let number = 0;
  let offset = 0;
  let parts: Buffer[] = [];
  let length = 0;

  function add(part: Buffer): void {
    if (length <= maxLineBytes) parts.push(part);
    length += part.length;
  }

  function finish(): Line {
    number += 1;
    offset += length;
    const isTooLong = length > maxLineBytes;
    const raw = isTooLong ? [...parts, Buffer.from(String(length))] : parts;
    const bytes = isTooLong ? null : withoutEnds(raw.length === 1 ? raw[0] : Buffer.concat(raw), number);
    parts = [];
    length = 0;
    return { number, bytes, raw, endOffset: offset };
  }

  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let from = 0;
    for (let end = chunk.indexOf(lineBreak); end !== -1; end = chunk.indexOf(lineBreak, from)) {
      add(chunk.subarray(from, end + 1));
      from = end + 1;
      lines.push(finish());
    }
    if (from < chunk.length) add(chunk.subarray(from));
    if (lines.length > 0) yield lines;
  }
  if (length > 0) yield [finish()];
}

function withoutEnds(line: Buffer | undefined, number: number): Buffer {
  if (line === undefined) return Buffer.alloc(0);
  const from = number === 1 && line.subarray(0, 3).equals(byteOrderMark) ? 3 : 0;
  let to = line.length;
  if (line[to - 1] === lineBreak) to -= 1;
  if (line[to - 1] === carriageReturn) to -= 1;
  return line.subarray(from, Math.max(from, to));
}
