import { isUtf8 } from 'node:buffer';
import { AppError } from '@millrace/errors';
import { outlineJson } from '../json/json-outline.ts';
import { repairSurrogates } from '../json/repair-surrogates.ts';
import type { ByteLease } from '../memory/byte-budget.ts';
import { decodeBase64, looksLikeBase64, restorePlus } from './base64-text.ts';
import { isForm, isFormType, looksLikeJson, parseForm } from './form-body.ts';
import { brokenGzip, gunzip, hasGzipMagic } from './gunzip.ts';
import { decompressedTooLarge } from './inflate.ts';
import { decodeLz64 } from './lz64.ts';

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
  /** Of a large body: the key its outermost object names. */
  envelopeKey: string | null;
}

export interface DecodeOptions {
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
 * From the raw body to JSON text, in the order of docs/wire-rules.md#decoding-of-bodies: base64 around everything, a
 * form, one layer of compression, base64 inside. Gzip is known by its first bytes, since many SDKs forget the hint and
 * proxies undo the compression without taking it away; only lz64 has to be named.
 *
 * @returns a promise only where something takes its time: gzip, or a large body.
 * @throws AppError `invalid` naming the layer that could not be decoded, `too_large` over the cap.
 */
export function decodeBody(raw: Buffer, hints: BodyHints, options: DecodeOptions): DecodedBody | Promise<DecodedBody> {
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
    return withEnvelopeKey(json, options.lease, (envelopeKey) => ({ json, apiKey, envelopeKey }));
  }

  const finish = (decoded: Buffer) =>
    withEnvelopeKey(decoded, options.lease, (envelopeKey) => {
      const json = readUtf8(decoded, hints, compression);
      if (isBlank(json)) throw missingData();
      return { json, apiKey, envelopeKey };
    });
  bytes = unwrapBase64(bytes);
  if (!hasGzipMagic(bytes)) return finish(bytes);
  return gunzip(bytes, options.maxDecompressedBytes, options.lease).then((inflated) => finish(unwrapBase64(inflated)));
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

/** So many bytes cannot grow beyond a million characters, which takes some milliseconds. */
const shortLz64Bytes = 2048;

/** Parsing a smaller body is faster than looking through it first. */
const largeBytes = 128 * 1024;

/** @throws AppError see `outlineJson`. */
function withEnvelopeKey(
  json: Buffer,
  lease: ByteLease,
  next: (envelopeKey: string | null) => DecodedBody,
): DecodedBody | Promise<DecodedBody> {
  return json.length < largeBytes ? next(null) : outlineJson(json, lease).then(({ apiKey }) => next(apiKey));
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

function unwrapBase64(bytes: Buffer): Buffer {
  return looksLikeBase64(bytes) && !isJsonScalar(bytes) ? (decodeBase64(bytes) ?? bytes) : bytes;
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
      throw new AppError('invalid', 'The body is not valid lz64 data.', { code: 'invalid_lz64' });
    case 'too_long':
      throw decompressedTooLarge(maxUnits * 2);
    case 'text':
      lease.take(result.text.length * 2);
      return result.text;
  }
}

/** The text without a byte order mark, which some platforms write in front and no parser accepts. */
function readUtf8(raw: Buffer, hints: BodyHints, compression: Compression | null): Buffer {
  const isText = isUtf8(raw);
  const bytes = isText ? raw : repairSurrogates(raw);
  if (!isText && !isUtf8(bytes)) {
    if (compression === 'gzip') throw brokenGzip();
    const isOtherEncoding = hints.contentEncoding !== '' && pickCompression(hints.contentEncoding) === null;
    const advice = isOtherEncoding ? ' The only compression of bodies understood here is gzip.' : '';
    throw new AppError('invalid', `The body is not UTF-8 text.${advice}`, { code: 'invalid_utf8' });
  }
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const json = hasMark ? bytes.subarray(3) : bytes;
  if (isFormType(hints.contentType) && !looksLikeJson(json.toString('utf8')) && !isJsonScalar(bytes)) {
    throw new AppError('invalid', 'The form has no field `data`.', { code: 'no_data', attr: 'data' });
  }
  return json;
}

/** Nothing but white space, of any kind in Unicode. */
function isBlank(json: Buffer): boolean {
  const [first = 0] = json;
  const isPlain = first > 0x20 && first < 0x7f;
  return !isPlain && json.toString('utf8').trimStart() === '';
}

export function missingData(): AppError {
  return new AppError('invalid', 'The request has no data. Send the events as JSON in the body of a POST.', {
    code: 'no_data',
  });
}
