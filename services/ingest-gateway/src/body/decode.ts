import { isUtf8 } from 'node:buffer';
import { AppError } from '@millrace/runtime';
import {
  decodeBase64,
  isForm,
  isFormType,
  looksLikeBase64,
  looksLikeJson,
  parseForm,
  restorePlus,
} from './base64-and-forms.ts';
import type { ByteLease } from './byte-budget.ts';
import { decompressedTooLarge, gunzip, gunzipStart, hasGzipMagic, noGzip } from './inflate.ts';
import { decodeLz64 } from './lz64.ts';
import { outlineJson } from './outline.ts';

/** What the request says about its body. */
export interface BodyHints {
  /** Query parameter `compression`. */
  compression: string | null;
  /** Header values, lower case; empty when absent. */
  contentType: string;
  contentEncoding: string;
}

export interface DecodedBody {
  /** What should be JSON text, as UTF-8 without a byte order mark. */
  json: Buffer;
  /** A key given as a form field beside the payload. */
  apiKey: string | null;
  /** Only for a large body: the key its outermost object names. */
  envelopeKey: string | null;
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
 * From the raw body to JSON text, in the order of docs/wire-rules.md#body-decoding: base64 around everything, a
 * form, one layer of compression, base64 inside. Gzip is known by its first bytes, since many SDKs forget the hint and
 * proxies undo the compression without taking it away; only lz64 has to be named.
 *
 * @throws AppError `invalid` naming the layer that could not be decoded, `too_large` over the cap.
 */
export async function decodeBody(raw: Buffer, hints: BodyHints, options: DecodeOptions): Promise<DecodedBody> {
  const { maxDecompressedBytes, lease } = options;
  let bytes = raw;
  let apiKey: string | null = null;
  let formCompression: string | null = null;
  if (isForm(bytes, hints.contentType)) {
    const form = parseForm(bytes.toString('utf8'));
    if (form === null) throw missingData();
    bytes = Buffer.from(restorePlus(form.data), 'utf8');
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
  const isOnlySaidToBeGzip = compression === 'gzip' && !isGzip;
  const json = readUtf8(bytes, hints, isOnlySaidToBeGzip);
  if (isOnlySaidToBeGzip && !mayBeJson(json)) throw noGzip();
  if (isBlank(json)) throw missingData();
  return { json, apiKey, envelopeKey };
}

/**
 * Whether a body is compressed in the one way that is decoded in this thread, and long enough to grow a thousandfold:
 * that would block the process for a tenth of a second.
 */
export function isLongLz64(raw: Buffer, { compression, contentType, contentEncoding }: BodyHints): boolean {
  if (raw.length <= shortLz64Bytes) return false;
  // Text that begins as JSON is nothing else. Nearly every body does.
  if (raw[0] === 0x7b || raw[0] === 0x5b) return false;
  const inForm = isForm(raw, contentType) ? (parseForm(raw.toString('utf8'))?.compression ?? null) : null;
  return pickCompression(compression, inForm, contentEncoding) === 'lz64';
}

/** Unpacked bytes in which the key is looked for before a large body gets its turn. */
const startBytes = 64 * 1024;
const keyField = /"(?:api_key|\$?token)"\s*:\s*"([^"\\]{1,64})"/;

/**
 * The first that looks like a project API key in the first 64 KiB of a body, unpacked as `decodeBody` does it. Null when there is none,
 * or lz64 is in the way.
 */
export async function findKeyAtStart(raw: Buffer, { contentType }: BodyHints): Promise<string | null> {
  let bytes = raw.subarray(0, startBytes);
  if (isForm(bytes, contentType)) {
    // It may end within the three characters of one.
    const form = parseForm(bytes.toString('utf8').replace(/%.?$/, ''));
    if (form === null || form.apiKey !== null) return form?.apiKey ?? null;
    bytes = Buffer.from(restorePlus(form.data), 'utf8');
  }
  bytes = unwrapBase64(bytes);
  if (hasGzipMagic(bytes)) bytes = unwrapBase64(await gunzipStart(bytes, startBytes));
  return keyField.exec(bytes.toString('utf8'))?.[1] ?? null;
}

/** So many bytes cannot grow beyond a million characters, which takes some milliseconds. */
const shortLz64Bytes = 2048;

/** Parsing a smaller body is faster than looking through it first. */
const largeBytes = 128 * 1024;

/**
 * The key of the outermost object of a large body; null for a small one, which is parsed in no time.
 * @throws AppError see `outlineJson`.
 */
async function findEnvelopeKey(json: Buffer, lease: ByteLease): Promise<string | null> {
  return json.length < largeBytes ? null : (await outlineJson(json, lease)).apiKey;
}

/** The first name that means a compression wins; unknown names, also `base64`, say nothing. */
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

/** Any word looks like base64: it is only undone where JSON or gzip is in it. */
function unwrapBase64(bytes: Buffer): Buffer {
  if (!looksLikeBase64(bytes)) return bytes;
  const start = Buffer.from(bytes.toString('latin1', 0, 128), 'base64');
  return hasGzipMagic(start) || beginsAsJson(start) ? (decodeBase64(bytes) ?? bytes) : bytes;
}

/** `null`, numbers and texts are no request, but they are JSON, and the error should say so. */
function isJsonScalar(bytes: Buffer): boolean {
  return bytes.length <= 20 && /^(?:null|true|false|-?\d+)$/.test(bytes.toString('latin1').trim());
}

function readLz64(bytes: Buffer, { maxDecompressedBytes, lease }: DecodeOptions): string {
  // A unit takes two bytes, and decoding blocks the process. A fifth of the cap is more than browsers send.
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
      throw decompressedTooLarge(maxUnits * 2);
    case 'text':
      lease.take(result.text.length * 2);
      return result.text;
  }
}

/** The text without a byte order mark, which some platforms write in front and no parser accepts. */
function readUtf8(raw: Buffer, hints: BodyHints, isOnlySaidToBeGzip: boolean): Buffer {
  const isText = isUtf8(raw);
  const bytes = isText ? raw : repairSurrogates(raw);
  if (!isText && !isUtf8(bytes)) {
    if (isOnlySaidToBeGzip) throw noGzip();
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

/** Nothing but white space, of any kind in Unicode. */
function isBlank(json: Buffer): boolean {
  const [first = 0] = json;
  const isPlain = first > 0x20 && first < 0x7f;
  return !isPlain && json.toString('utf8').trimStart() === '';
}

export function missingData(): AppError {
  return new AppError('invalid', 'The request has no data. Send the events as JSON in the body of a POST request.', {
    code: 'no_data',
  });
}

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
