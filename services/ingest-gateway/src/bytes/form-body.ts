/** What a urlencoded form says. Field `data` is the payload; the others help when the payload does not say it itself. */
export interface FormBody {
  data: string;
  compression: string | null;
  apiKey: string | null;
}

const knownFirstFields = ['data=', '_=', 'ip=', 'compression='];
const dataField = /(?:^|&)data=/;

/**
 * Whether a body is a form: its type says so and it has the field, or it starts like one (some clients leave the type
 * out). A form type around plain JSON, which is what `curl -d` sends, is JSON.
 * Cases E11 to E17 (docs/wire-rules.md#decoding-of-bodies).
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

/** Null when there is no payload in it. */
export function parseForm(text: string): FormBody | null {
  const fields = new URLSearchParams(text);
  const data = fields.get('data');
  if (!data) return null;
  return { data, compression: fields.get('compression'), apiKey: fields.get('api_key') ?? fields.get('token') };
}
