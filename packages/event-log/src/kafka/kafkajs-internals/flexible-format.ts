/**
 * Kafka's newer way to write requests and answers: lengths are varints, one more than they are, and everything may end
 * with tagged fields. https://cwiki.apache.org/confluence/display/KAFKA/KIP-482
 * Only metadata-protocol.ts and log-directories.ts need it, and it goes with them.
 */
export interface FlexibleReader {
  int8(): number;
  int16(): number;
  int32(): number;
  /** Exact up to 2 ** 53. */
  int64(): number;
  bytes(length: number): Buffer;
  /** Null where there is none. */
  text(): string | null;
  int32s(): number[];
  /** Elements with tagged fields behind each, which are skipped. */
  array<T>(read: () => T): T[];
  skipTags(): void;
}

/** @throws RangeError when the answer is shorter than it says. */
export function createFlexibleReader(buffer: Buffer): FlexibleReader {
  let at = 0;

  function varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = buffer.readUInt8(at++);
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError('a varint is longer than five bytes');
  }

  function bytes(length: number): Buffer {
    if (at + length > buffer.length) throw new RangeError('an answer ends too early');
    at += length;
    return buffer.subarray(at - length, at);
  }

  function int32(): number {
    at += 4;
    return buffer.readInt32BE(at - 4);
  }

  function skipTags(): void {
    for (let left = varint(); left > 0; left -= 1) {
      varint();
      bytes(varint());
    }
  }

  function times<T>(read: () => T): T[] {
    const elements: T[] = [];
    for (let left = varint() - 1; left > 0; left -= 1) elements.push(read());
    return elements;
  }

  return {
    int8: () => buffer.readInt8(at++),
    int16() {
      at += 2;
      return buffer.readInt16BE(at - 2);
    },
    int32,
    int64() {
      at += 8;
      return Number(buffer.readBigInt64BE(at - 8));
    },
    bytes,
    text() {
      const length = varint() - 1;
      return length < 0 ? null : bytes(length).toString('utf8');
    },
    int32s: () => times(int32),
    array: (read) =>
      times(() => {
        const element = read();
        skipTags();
        return element;
      }),
    skipTags,
  };
}

export function unsignedVarint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  bytes.push(rest);
  return Buffer.from(bytes);
}

export function compactText(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  return Buffer.concat([unsignedVarint(bytes.length + 1), bytes]);
}
