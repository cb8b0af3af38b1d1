// Decodes a request body: compression, base64, forms and character encoding.

import { isUtf8 } from 'node:buffer';
import { AppError } from '@millrace/runtime';
import {
  decodeBase64,
  isForm,
  isFormType,
  looksLikeBase64,
  looksLikeJson,
  parseForm,
  restorePlusSigns,
} from './base64-and-forms.ts';
import type { ByteLease } from './byte-budget.ts';
import {
  declaredGzipSize,
  decompressedTooLargeError,
  gunzip,
  gunzipStart,
  hasGzipMagic,
  notGzipError,
} from './inflate.ts';
import { decodeLz64 } from './lz64.ts';
import { outlineJson } from './outline.ts';

export interface ReceivedBody {
  raw: Buffer;
  hints: BodyHints;
}

export interface BodyHints {
  compression: string | null;
  /** The content type in lower case, or an empty string if the header is missing. */
  contentType: string;
  contentEncoding: string;
}

interface DecodeOptions {
  maxDecompressedBytes: number;
  lease: ByteLease;
}

type Compression = 'gzip' | 'lz64';

const compressionNames = new Map<string, Compression>([
  ['gzip', 'gzip'],
  ['gzip-js', 'gzip'],
  ['lz64', 'lz64'],
  ['lz-string', 'lz64'],
]);

/**
 * Decodes a body to JSON text, in the order of docs/wire-rules.md#body-decoding: base64 around everything, a form, one
 * layer of compression, and base64 inside. Detects gzip by its first bytes, because many SDKs do not declare it, and
 * some proxies decompress the body but keep the declaration. Only lz64 must be declared.
 *
 * @returns
 * - `json`: UTF-8 without a byte order mark. It has not been parsed, so it may be invalid JSON.
 * - `apiKey`: the API key in a separate form field.
 * - `envelopeKey`: the API key in the outermost JSON object of a large body.
 * @throws AppError `invalid` naming the layer that could not be decoded, or `too_large` over the limit
 */
export async function decodeBody(
  { raw, hints }: ReceivedBody,
  options: DecodeOptions,
): Promise<{ json: Buffer; apiKey: string | null; envelopeKey: string | null }> {
  const { maxDecompressedBytes, lease } = options;
  let bytes = raw;
  let apiKey: string | null = null;
  let formCompression: string | null = null;
  if (isForm(bytes, hints.contentType)) {
    const form = parseForm(bytes.toString('utf8'));
    if (form === null) throw missingDataError();
    bytes = Buffer.from(restorePlusSigns(form.data), 'utf8');
    apiKey = form.apiKey;
    formCompression = form.compression;
  }
  const compression = pickCompression(hints.compression, formCompression, hints.contentEncoding);
  if (compression === 'lz64' && !hasGzipMagic(bytes) && !beginsAsJson(bytes)) {
    const json = Buffer.from(readLz64(bytes, options), 'utf8');
    return { json, apiKey, envelopeKey: await findEnvelopeKey(json, lease) };
  }
  bytes = unwrapBase64(bytes);
  const isGzip = hasGzipMagic(bytes);
  if (isGzip) bytes = unwrapBase64(await gunzip(bytes, maxDecompressedBytes, lease));
  const envelopeKey = await findEnvelopeKey(bytes, lease);
  const isWronglyDeclaredGzip = compression === 'gzip' && !isGzip;
  const json = readUtf8(bytes, hints, isWronglyDeclaredGzip);
  if (isWronglyDeclaredGzip && !mayBeJson(json)) throw notGzipError();
  if (isBlank(json)) throw missingDataError();
  return { json, apiKey, envelopeKey };
}

export function isMultipart({ hints }: ReceivedBody): boolean {
  return hints.contentType.startsWith('multipart/form-data');
}

/** Larger bodies, before or after decompression, are decoded and validated in a worker thread. */
const largeBodyBytes = 256 * 1024;

export function isLarge(bytes: number): boolean {
  return bytes > largeBodyBytes;
}

/** Returns true if decoding the body in this thread would block it for too long. */
export function isLargeBody({ raw, hints }: ReceivedBody): boolean {
  return isLarge(raw.length) || isLarge(declaredGzipSize(raw)) || isLongLz64(raw, hints);
}

/**
 * Returns whether a body is compressed with lz64 and longer than `shortLz64Bytes`. Decoding it cannot be interrupted.
 * The output can be a thousand times as large, which would block the thread for a tenth of a second.
 */
function isLongLz64(raw: Buffer, { compression, contentType, contentEncoding }: BodyHints): boolean {
  if (raw.length <= shortLz64Bytes) return false;
  // Nearly all bodies are plain JSON, which starts with a bracket or brace.
  if (raw[0] === 0x7b || raw[0] === 0x5b) return false;
  const inForm = isForm(raw, contentType) ? (parseForm(raw.toString('utf8'))?.compression ?? null) : null;
  return pickCompression(compression, inForm, contentEncoding) === 'lz64';
}

/** How many decompressed bytes are searched for the API key before a large body is queued. */
const startBytes = 64 * 1024;
const keyField = /"(?:api_key|\$?token)"\s*:\s*"([^"\\]{1,64})"/;

/**
 * Returns the first string that looks like a project API key in the first 64 KiB of a body, after decoding it like
 * `decodeBody`. Returns null if it finds none, or if the body is compressed with lz64.
 */
export async function findKeyAtStart({ raw, hints }: ReceivedBody): Promise<string | null> {
  const { contentType } = hints;
  let bytes = raw.subarray(0, startBytes);
  if (isForm(bytes, contentType)) {
    // The last percent-encoded character may be incomplete, so remove it.
    const form = parseForm(bytes.toString('utf8').replace(/%.?$/, ''));
    if (form === null || form.apiKey !== null) return form?.apiKey ?? null;
    bytes = Buffer.from(restorePlusSigns(form.data), 'utf8');
  }
  bytes = unwrapBase64(bytes);
  if (hasGzipMagic(bytes)) bytes = unwrapBase64(await gunzipStart(bytes, startBytes));
  return keyField.exec(bytes.toString('utf8'))?.[1] ?? null;
}

/**
 * Longer lz64 bodies are decoded in a worker thread. Up to this size, the output has at most a million characters,
 * which takes a few milliseconds.
 */
const shortLz64Bytes = 2048;

/** Only bodies of at least this size are scanned before parsing. Smaller ones are parsed faster than scanned. */
const largeBytes = 128 * 1024;

/**
 * Returns the API key in a large body's outermost object. Returns null for a small body, or without an API key.
 * @throws the errors of `outlineJson`
 */
async function findEnvelopeKey(json: Buffer, lease: ByteLease): Promise<string | null> {
  return json.length < largeBytes ? null : (await outlineJson(json, lease)).apiKey;
}

/** Returns the first known compression among these names. Ignores unknown names, including `base64`. */
function pickCompression(...names: (string | null)[]): Compression | null {
  for (const name of names) {
    const compression = name === null ? undefined : compressionNames.get(name.toLowerCase());
    if (compression !== undefined) return compression;
  }
  return null;
}

function beginsAsJson(bytes: Buffer): boolean {
  return looksLikeJson(bytes.toString('utf8', 0, 128));
}

/** Decodes base64 only if the result is JSON or gzip, because any plain word is also valid base64. */
function unwrapBase64(bytes: Buffer): Buffer {
  if (!looksLikeBase64(bytes)) return bytes;
  const start = Buffer.from(bytes.toString('latin1', 0, 128), 'base64');
  return hasGzipMagic(start) || beginsAsJson(start) ? (decodeBase64(bytes) ?? bytes) : bytes;
}

/**
 * Returns whether a body is `null`, a boolean or a number. Such a body is valid JSON, so it gets a different error
 * message.
 */
function isJsonScalar(bytes: Buffer): boolean {
  return bytes.length <= 20 && /^(?:null|true|false|-?\d+)$/.test(bytes.toString('latin1').trim());
}

function readLz64(bytes: Buffer, { maxDecompressedBytes, lease }: DecodeOptions): string {
  // The maximum length in UTF-16 code units. A unit takes two bytes, and decoding blocks the thread, so the limit is a
  // fifth of the size limit. Browsers send less.
  const maxUnits = Math.floor(maxDecompressedBytes / 10);
  const result = decodeLz64(bytes.toString('latin1'), maxUnits);
  switch (result.outcome) {
    case 'broken':
      throw new AppError(
        'invalid',
        'The request declares lz64, but the body cannot be decoded as lz64. Send JSON, either uncompressed or compressed ' +
          'with gzip.',
        { code: 'invalid_lz64' },
      );
    case 'too_long':
      throw decompressedTooLargeError(maxUnits * 2);
    case 'text':
      lease.take(result.text.length * 2);
      return result.text;
  }
}

/** Decodes UTF-8, and removes the byte order mark, which some platforms add and `JSON.parse` rejects. */
function readUtf8(raw: Buffer, hints: BodyHints, isWronglyDeclaredGzip: boolean): Buffer {
  const isText = isUtf8(raw);
  const bytes = isText ? raw : repairSurrogates(raw);
  if (!isText && !isUtf8(bytes)) {
    if (isWronglyDeclaredGzip) throw notGzipError();
    const isOtherEncoding = hints.contentEncoding !== '' && pickCompression(hints.contentEncoding) === null;
    const problem = isOtherEncoding ? 'has an unsupported Content-Encoding' : 'is neither UTF-8 text nor gzip';
    throw new AppError('invalid', `The body ${problem}. Send JSON, either uncompressed or compressed with gzip.`, {
      code: 'invalid_utf8',
    });
  }
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const json = hasMark ? bytes.subarray(3) : bytes;
  if (isFormType(hints.contentType) && !mayBeJson(json)) {
    throw new AppError(
      'invalid',
      'The form has no field `data`. Add it, or send JSON with the Content-Type application/json.',
      {
        code: 'no_data',
        attr: 'data',
      },
    );
  }
  return json;
}

function mayBeJson(json: Buffer): boolean {
  const isObject = json[0] === 0x7b || json[0] === 0x5b;
  return isObject || looksLikeJson(json.toString('utf8')) || isJsonScalar(json) || isBlank(json);
}

/** Returns true if a body is empty or contains only Unicode white space. */
function isBlank(json: Buffer): boolean {
  const [first = 0] = json;
  const isPlain = first > 0x20 && first < 0x7f;
  return !isPlain && json.toString('utf8').trimStart() === '';
}

export function missingDataError(): AppError {
  return new AppError('invalid', 'The request has no data. Send the events as JSON in the body of a POST request.', {
    code: 'no_data',
  });
}

/**
 * Repairs UTF-8 in which an emoji is encoded as two surrogates of three bytes each, as in base64 bodies of browser SDKs
 * before 2024. A surrogate pair becomes one character, and a lone surrogate becomes U+FFFD.
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

/** Returns the encoded UTF-16 surrogate at an offset, or null for any other character. */
function surrogateAt(bytes: Buffer, at: number): number | null {
  const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + 3);
  if (first !== 0xed || (second & 0xe0) !== 0xa0 || (third & 0xc0) !== 0x80) return null;
  return 0xd000 | ((second & 0x3f) << 6) | (third & 0x3f);
}
