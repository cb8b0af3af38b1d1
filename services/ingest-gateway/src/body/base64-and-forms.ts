const inspectedBytes = 128;

const isBase64Byte = new Uint8Array(256);
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_') {
  isBase64Byte[character.charCodeAt(0)] = 1;
}
const lineBreaks = /[\r\n]/g;

/**
 * Returns whether a body's first bytes are in the base64 alphabet, including its URL-safe variant. JSON starts with a
 * brace or bracket, and gzip starts with bytes outside the alphabet. Line breaks are accepted, and padding is optional
 * (docs/wire-rules.md#body-decoding).
 */
export function looksLikeBase64(bytes: Buffer): boolean {
  const end = Math.min(bytes.length, inspectedBytes);
  for (let i = 0; i < end; i++) {
    const byte = bytes[i] ?? 0;
    const isLineBreak = byte === 0x0a || byte === 0x0d;
    if (isBase64Byte[byte] !== 1 && !(isLineBreak && i > 0)) return false;
  }
  return end > 0;
}

export function decodeBase64(bytes: Buffer): Buffer | null {
  const text = bytes.toString('latin1');
  const decoded = Buffer.from(text, 'base64');
  if (decoded.length === decodedLength(text)) return decoded;
  const joined = text.replace(lineBreaks, '');
  return joined.length < text.length && decoded.length === decodedLength(joined) ? decoded : null;
}

/** Restores each `+` that form decoding has replaced with a space. Base64 contains no spaces (case body-012). */
export function restorePlusSigns(text: string): string {
  return text.includes(' ') && !/[^A-Za-z0-9+/=_ -]/.test(text.slice(0, inspectedBytes))
    ? text.replaceAll(' ', '+')
    : text;
}

function decodedLength(text: string): number {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 0x3d) end--;
  return Math.floor((end * 3) / 4);
}

/**
 * A URL-encoded form, whose payload is in the field `data`. The payload's own fields take precedence over the form's.
 */
interface FormBody {
  data: string;
  compression: string | null;
  apiKey: string | null;
}

const knownFirstFields = ['data=', '_=', 'ip=', 'compression='];
const dataField = /(?:^|&)data=/;

/**
 * Returns whether a body is a form. A body is a form if it starts like one, because some clients do not send a form's
 * Content-Type, or if it has that Content-Type and the field `data`. JSON with a form's Content-Type, which `curl -d`
 * sends, is not a form. See cases body-011 to body-017 (docs/wire-rules.md#body-decoding).
 */
export function isForm(bytes: Buffer, contentType: string): boolean {
  const start = bytes.toString('latin1', 0, 128);
  if (knownFirstFields.some((field) => start.startsWith(field))) return true;
  return isFormType(contentType) && !looksLikeJson(start) && dataField.test(start);
}

export function isFormType(contentType: string): boolean {
  return contentType.startsWith('application/x-www-form-urlencoded');
}

export function looksLikeJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

/** Returns null if the form contains no payload. */
export function parseForm(text: string): FormBody | null {
  const fields = new URLSearchParams(text);
  const data = fields.get('data');
  if (!data) return null;
  return { data, compression: fields.get('compression'), apiKey: fields.get('api_key') ?? fields.get('token') };
}
