/**
 * UTF-8 in which characters beyond the Basic Multilingual Plane are written as two surrogates of three bytes each, which
 * is how browser SDKs before 2024 encode an emoji under base64. Pairs become the character, lone surrogates U+FFFD.
 */
export function repairSurrogates(bytes: Buffer): Buffer {
  const pieces: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(0xed); at >= 0; at = bytes.indexOf(0xed, at)) {
    const high = surrogateAt(bytes, at);
    if (high === null) {
      at += 1;
      continue;
    }
    const low = surrogateAt(bytes, at + 3);
    const isPair = high < 0xdc00 && low !== null && low >= 0xdc00;
    const text = isPair ? String.fromCharCode(high, low) : '\ufffd';
    pieces.push(bytes.subarray(from, at), Buffer.from(text, 'utf8'));
    at += isPair ? 6 : 3;
    from = at;
  }
  if (from === 0) return bytes;
  pieces.push(bytes.subarray(from));
  return Buffer.concat(pieces);
}

/** The surrogate written at this position, or null when something else is. */
function surrogateAt(bytes: Buffer, at: number): number | null {
  const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + 3);
  if (first !== 0xed || (second & 0xe0) !== 0xa0 || (third & 0xc0) !== 0x80) return null;
  return 0xd000 | ((second & 0x3f) << 6) | (third & 0x3f);
}
