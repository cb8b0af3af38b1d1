import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { AppError } from '@millrace/errors';
import type { ByteLease } from '../memory/byte-budget.ts';

/** One part of a multipart body. */
export interface Part {
  name: string;
  /** Its Content-Type without parameters, lower case; `text/plain` when it names none. */
  type: string;
  bytes: Buffer;
}

/** Far above what clients send; each has a head to be read. */
const maxParts = 200;
const maxHeaderPairs = 20;
const maxHeaderBytes = 8 * 1024;

export function isMultipart(contentType: string): boolean {
  return contentType.startsWith('multipart/form-data');
}

/**
 * The parts of a form (RFC 7578), in their order. A part without a name is left out.
 *
 * @param contentType as it was sent: the boundary in it may have capitals.
 * @throws AppError `invalid` (`invalid_multipart`), `too_large` (`too_many_parts`), `unavailable` when the memory budget
 * is used up.
 */
export function readParts(raw: Buffer, contentType: string, lease: ByteLease): Promise<Part[]> {
  return new Promise((resolve, reject) => {
    const form = openForm(contentType);
    const parts: Promise<Part | null>[] = [];
    let hasFailed = false;
    const fail = (error: unknown) => {
      hasFailed = true;
      form.destroy();
      reject(error);
    };
    /** A form that has failed may still give pieces, and its request has given back its memory. */
    const take = (bytes: number) => {
      if (!hasFailed) lease.take(bytes);
    };
    form.on('file', (name: string | undefined, stream, _filename, _encoding, type) => {
      const part = gather(stream, take).then((bytes) => (name === undefined ? null : { name, type, bytes }));
      part.catch(fail);
      parts.push(part);
    });
    form.on('partsLimit', () => {
      fail(new AppError('too_large', `The form has more than ${maxParts} parts.`, { code: 'too_many_parts' }));
    });
    form.on('error', (cause) => fail(brokenForm(cause)));
    form.on('finish', () => {
      Promise.all(parts).then((all) => resolve(all.filter((part) => part !== null)), reject);
    });
    form.end(raw);
  });
}

function openForm(contentType: string) {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: { parts: maxParts, headerPairs: maxHeaderPairs, headerSize: maxHeaderBytes },
      // Their bytes as they are: what a part is, its name and type say.
      isPartAFile: () => true,
    });
  } catch (cause) {
    throw brokenForm(cause);
  }
}

/** @param take asks for memory, and throws when there is none. */
function gather(stream: BusboyFileStream, take: (bytes: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let total = 0;
    stream.on('data', (piece: Buffer) => {
      total += piece.length;
      try {
        take(piece.length);
        pieces.push(piece);
      } catch (error) {
        reject(error);
      }
    });
    stream.on('end', () => resolve(Buffer.concat(pieces, total)));
    stream.on('error', (cause) => reject(brokenForm(cause)));
  });
}

function brokenForm(cause: unknown): AppError {
  return new AppError('invalid', 'The body is not a complete multipart form, or its Content-Type has no boundary.', {
    code: 'invalid_multipart',
    cause,
  });
}
