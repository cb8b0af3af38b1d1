/**
 * Validates JSON strictly without storing anything. Each function takes a start position and returns the position after
 * what it has skipped. It returns -1 for invalid JSON, for nesting that is too deep, and for escapes that PostgreSQL
 * does not store (NUL, half of a surrogate pair). The bytes must be valid UTF-8. To find the reason for -1, parse the
 * text.
 */

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

export function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  for (;;) {
    const byte = bytes[at] ?? 0xff;
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) return at;
    at += 1;
  }
}

/**
 * Skips any JSON value.
 * @param start the position of its first character
 * @param levels the maximum number of nested objects and arrays
 */
export function skipValue(bytes: Buffer, start: number, levels: number): number {
  switch (bytes[start]) {
    case quote:
      return skipText(bytes, start);
    case 0x7b:
      return levels === 0 ? -1 : skipObject(bytes, start, levels - 1);
    case 0x5b:
      return levels === 0 ? -1 : skipArray(bytes, start, levels - 1);
    case 0x74:
      return isWord(bytes, start, 0x72, 0x75, 0x65) ? start + 4 : -1;
    case 0x6e:
      return isWord(bytes, start, 0x75, 0x6c, 0x6c) ? start + 4 : -1;
    case 0x66:
      return isWord(bytes, start + 1, 0x6c, 0x73, 0x65) && bytes[start + 1] === 0x61 ? start + 5 : -1;
    default:
      return skipNumber(bytes, start);
  }
}

/**
 * Marks the bytes that need no escaping in a string: all except quotes, backslashes and control characters. Looking
 * them up in a table is the fastest check.
 */
const isPlain = new Uint8Array(256).fill(1, 0x20);
isPlain[quote] = 0;
isPlain[backslash] = 0;

/** @param start the position of the opening quote */
export function skipText(bytes: Buffer, start: number): number {
  let at = start + 1;
  for (;;) {
    at = skipPlainBytes(bytes, at);
    if (bytes[at] === quote) return at + 1;
    if (bytes[at] !== backslash) return -1;
    at = skipEscape(bytes, at);
    if (at < 0) return -1;
  }
}

/**
 * Skips a string's bytes that need no decoding.
 * @returns the position of the first byte that needs decoding, or the end
 */
export function skipPlainBytes(bytes: Buffer, start: number): number {
  const { length } = bytes;
  let at = start;
  while (at + 3 < length && arePlain(bytes, at)) at += 4;
  while (at < length && isPlain[bytes[at] ?? 0] === 1) at += 1;
  return at;
}

/** Checks four bytes at once. Returns true if none of them needs decoding. */
function arePlain(bytes: Buffer, at: number): boolean {
  const first = (isPlain[bytes[at] ?? 0] ?? 0) & (isPlain[bytes[at + 1] ?? 0] ?? 0);
  return (first & (isPlain[bytes[at + 2] ?? 0] ?? 0) & (isPlain[bytes[at + 3] ?? 0] ?? 0)) === 1;
}

function skipEscape(bytes: Buffer, start: number): number {
  const kind = bytes[start + 1];
  if (kind !== 0x75) return isShortEscape(kind) ? start + 2 : -1;
  const unit = readHex(bytes, start + 2);
  if (unit <= 0 || (unit >= 0xdc00 && unit <= 0xdfff)) return -1;
  if (unit < 0xd800 || unit > 0xdfff) return start + 6;
  if (bytes[start + 6] !== backslash || bytes[start + 7] !== 0x75) return -1;
  const low = readHex(bytes, start + 8);
  return low >= 0xdc00 && low <= 0xdfff ? start + 12 : -1;
}

function isShortEscape(byte: number | undefined): boolean {
  switch (byte) {
    case quote:
    case backslash:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return true;
    default:
      return false;
  }
}

/** Reads four hexadecimal digits. Returns -1 if one of the characters is not a hexadecimal digit. */
function readHex(bytes: Buffer, start: number): number {
  let value = 0;
  for (let at = start; at < start + 4; at++) {
    const byte = bytes[at] ?? 0;
    const letter = byte | 0x20;
    if (byte >= 0x30 && byte <= 0x39) value = value * 16 + byte - 0x30;
    else if (letter >= 0x61 && letter <= 0x66) value = value * 16 + letter - 0x57;
    else return -1;
  }
  return value;
}

function skipObject(bytes: Buffer, start: number, levels: number): number {
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === 0x7d) return at + 1;
  for (;;) {
    at = skipName(bytes, at);
    if (at < 0) return -1;
    at = skipValue(bytes, at, levels);
    if (at < 0) return -1;
    at = skipSpace(bytes, at);
    if (bytes[at] === 0x7d) return at + 1;
    if (bytes[at] !== comma) return -1;
    at = skipSpace(bytes, at + 1);
  }
}

function skipName(bytes: Buffer, start: number): number {
  if (bytes[start] !== quote) return -1;
  return skipColon(bytes, skipText(bytes, start));
}

/**
 * Skips the colon after a name, and the white space around it.
 * @param start the position after a name, or -1
 * @returns the position of the field's value, or -1
 */
export function skipColon(bytes: Buffer, start: number): number {
  if (start < 0) return -1;
  const at = skipSpace(bytes, start);
  return bytes[at] === colon ? skipSpace(bytes, at + 1) : -1;
}

function skipArray(bytes: Buffer, start: number, levels: number): number {
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === 0x5d) return at + 1;
  for (;;) {
    at = skipValue(bytes, at, levels);
    if (at < 0) return -1;
    at = skipSpace(bytes, at);
    if (bytes[at] === 0x5d) return at + 1;
    if (bytes[at] !== comma) return -1;
    at = skipSpace(bytes, at + 1);
  }
}

function skipNumber(bytes: Buffer, start: number): number {
  let at = bytes[start] === 0x2d ? start + 1 : start;
  if (bytes[at] === 0x30) at += 1;
  else at = skipDigits(bytes, at);
  if (at > 0 && bytes[at] === 0x2e) at = skipDigits(bytes, at + 1);
  if (at > 0 && ((bytes[at] ?? 0) | 0x20) === 0x65) {
    const sign = bytes[at + 1];
    at = skipDigits(bytes, sign === 0x2b || sign === 0x2d ? at + 2 : at + 1);
  }
  return at;
}

function skipDigits(bytes: Buffer, start: number): number {
  let at = start;
  for (;;) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x30 || byte > 0x39) return at > start ? at : -1;
    at += 1;
  }
}

function isWord(bytes: Buffer, start: number, second: number, third: number, fourth: number): boolean {
  return bytes[start + 1] === second && bytes[start + 2] === third && bytes[start + 3] === fourth;
}
