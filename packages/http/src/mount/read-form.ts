/** Reads a multipart form while it arrives. The file is streamed, and the other fields are treated like a JSON body. */

import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { AppError } from '@millrace/runtime';
import type { TSchema } from 'typebox';
import type { FileField, Form } from '../route/route.ts';
import { checkJson, parseJson } from '../schema/json.ts';
import { shapeOf, typeOf, withoutNull } from '../schema/schema-shape.ts';
import { clientDisconnectedError, requireConnectedClient } from './read-json-body.ts';

const limits = { fields: 100, parts: 101, fieldNameSize: 100, headerPairs: 20, headerSize: 8 * 1024 };
/** Maximum total size of boundaries and part headers, in bytes. */
const frameBytes = 64 * 1024;

export function isForm(contentType: string | undefined): boolean {
  return /^\s*multipart\/form-data\s*(;|$)/i.test(contentType ?? '');
}

/**
 * Reads a form with at most one file while it arrives. If a field occurs twice, the last value is used. Files with
 * other names are ignored.
 * @param maxFieldBytes maximum total size of all fields
 * @throws AppError `too_large`, `unsupported_media_type` for a compressed body, `invalid` with the code `parse_error`
 *   for an invalid form, `timeout` if the client stops sending, and the errors of `file.read`
 */
export async function readForm<File>(
  request: IncomingMessage,
  file: FileField<File>,
  maxFieldBytes: number,
): Promise<Form<File>> {
  if ((request.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw new AppError(
      'unsupported_media_type',
      'A form with a file must not be compressed. Send it without Content-Encoding.',
    );
  }
  requireConnectedClient(request);
  const form = openForm(request, maxFieldBytes);
  const fields = new Map<string, string>();
  let reading: Promise<File> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      let bytes = 0;
      let fieldBytes = 0;
      request.on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (bytes > file.maxBytes + maxFieldBytes + frameBytes) reject(tooLarge());
      });
      request.once('aborted', () => reject(clientDisconnectedError()));
      form.on('field', (name: string, value: string, _nameCut: boolean, isCut: boolean) => {
        fieldBytes += Buffer.byteLength(value);
        if (isCut || fieldBytes > maxFieldBytes) reject(tooLarge());
        else if (name === file.name && value !== '') reject(noFile(name));
        else fields.set(name, value);
      });
      form.on('file', (name: string, content: BusboyFileStream) => {
        // An incomplete file emits an error even if the file is not read. Without a listener, the error would end the
        // process.
        content.on('error', () => {});
        if (name !== file.name || reading !== undefined) {
          content.resume();
          return;
        }
        content.once('limit', () => reject(tooLarge()));
        reading = file.read(content);
        reading.catch(reject);
      });
      for (const limit of ['fieldsLimit', 'partsLimit']) form.once(limit, () => reject(tooLarge()));
      form.on('error', (cause: unknown) => reject(brokenForm(cause)));
      form.once('finish', resolve);
      request.pipe(form);
    });
    return { fields: Object.fromEntries(fields), file: await reading };
  } catch (error) {
    request.unpipe(form);
    form.destroy();
    // Discard the rest of the body as it arrives, because a client that is still sending would not read the response.
    request.resume();
    throw error;
  }
}

function openForm(request: IncomingMessage, maxFieldBytes: number) {
  try {
    const contentType = request.headers['content-type'] ?? '';
    return new Busboy({ headers: { 'content-type': contentType }, limits: { ...limits, fieldSize: maxFieldBytes } });
  } catch (cause) {
    throw brokenForm(cause);
  }
}

function brokenForm(cause: unknown): AppError {
  return new AppError('invalid', 'The body is not a complete multipart form, or its Content-Type has no boundary.', {
    code: 'parse_error',
    cause,
  });
}

/**
 * Creates the error for a file part without a file name. Such a part is a plain form field. Without this error, the
 * client would assume that the file was read.
 */
function noFile(attr: string): AppError {
  const detail = 'The submitted data was not a file. Check the encoding type on the form.';
  return new AppError('invalid', detail, { attr });
}

function tooLarge(): AppError {
  return new AppError('too_large', 'Request too large.');
}

/**
 * Converts form fields to a body. Parses fields that are declared as objects or lists as JSON, and keeps all other
 * fields as strings.
 * @throws AppError `invalid` naming the field
 */
export function parseFormValues(schema: TSchema, fields: Record<string, string>): Record<string, unknown> {
  const properties = shapeOf(schema).properties ?? {};
  const values = Object.fromEntries(
    Object.entries(fields).map(([name, text]) => {
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return [name, known === undefined ? text : parsedField(known, name, text)];
    }),
  );
  checkJson(values);
  return values;
}

function parsedField(schema: TSchema, name: string, text: string): unknown {
  const type = typeOf(withoutNull(schema));
  if (type !== 'object' && type !== 'array') return text;
  if (text.trim() === '') return null;
  try {
    return parseJson(Buffer.from(text));
  } catch (cause) {
    const detail = cause instanceof AppError ? cause.message : 'Not valid JSON.';
    throw new AppError('invalid', detail, { code: 'parse_error', attr: name, cause });
  }
}
