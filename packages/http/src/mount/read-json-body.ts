// Reads JSON request bodies, with limits on their size and nesting.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '@millrace/runtime';
import express, { type Request, type Response } from 'express';
import { checkJson, parseJson } from '../schema/json.ts';

export interface JsonBodyReader {
  /** Reads and decompresses the complete body of an authenticated request. */
  read(request: IncomingMessage, response: ServerResponse): Promise<unknown>;
  /**
   * Reads a small, uncompressed body from any caller. The limit is enough for a key or a sign-up. Does not consume a
   * body that is declared as larger or compressed, so that `read` can read it afterwards.
   */
  readSmall(request: IncomingMessage): Promise<unknown>;
}

/** Maximum body size for callers without a key, in bytes. Parsing JSON of this size takes little time. */
const smallBytes = 16 * 1024;
const maxFormFields = 1000;

/**
 * Creates a reader for JSON bodies and simple forms of at most `limitBytes` after decompression. An empty body is read
 * as `{}`. Both methods throw an AppError: `unsupported_media_type` for another content type or encoding, `too_large`,
 * `invalid` with the code `parse_error` for invalid JSON or too many levels or values, and
 * `null_characters_not_allowed` for a string that PostgreSQL cannot store.
 */
export function createJsonBodyReader(limitBytes: number): JsonBodyReader {
  const readRaw = express.raw({ type: () => true, limit: limitBytes });
  return {
    async read(request, response) {
      requireConnectedClient(request);
      // Express's body reader accepts any Node.js request, and stores the bytes in its `body` property.
      const read = request as Request;
      const bytes = await new Promise<unknown>((resolve, reject) => {
        readRaw(read, response as Response, (error?: unknown) =>
          error ? reject(asAppError(error)) : resolve(read.body),
        );
      });
      return parseBody(request, Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0));
    },
    async readSmall(request) {
      const { 'content-length': length, 'content-encoding': encoding = 'identity' } = request.headers;
      if (length === undefined && request.headers['transfer-encoding'] === undefined) return {};
      if (Number(length) > Math.min(smallBytes, limitBytes)) throw tooLarge();
      if (encoding.toLowerCase() !== 'identity') {
        throw new AppError('unsupported_media_type', 'Compressed bodies require a valid API key.');
      }
      return parseBody(request, await receivePlain(request, Math.min(smallBytes, limitBytes)));
    },
  };
}

async function receivePlain(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of request.iterator({ destroyOnReturn: false })) {
      size += piece.length;
      if (size > limitBytes) break;
      pieces.push(piece);
    }
  } catch (cause) {
    throw clientDisconnectedError(cause);
  }
  if (size <= limitBytes) return Buffer.concat(pieces);
  // Discard the rest of the body as it arrives, because a client that is still sending would not read the response.
  request.resume();
  throw tooLarge();
}

function parseBody(request: IncomingMessage, bytes: Buffer): unknown {
  if (bytes.length === 0) return {};
  const value = parserOf(request.headers['content-type'] ?? '')(bytes);
  checkJson(value);
  return value;
}

/**
 * Returns the parser for a content type. Forms are accepted because old scripts send them
 * (docs/api/README.md#requests). If a field occurs twice, the last value is used.
 */
function parserOf(contentType: string): (bytes: Buffer) => unknown {
  const [mediaType = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.replace(/^charset="?([^"]*)"?$/, '$1');
  const isUtf8 = charset === undefined || ['utf-8', 'utf8', 'us-ascii'].includes(charset);
  if ((mediaType === 'application/json' || /^application\/[\w.-]+\+json$/.test(mediaType)) && isUtf8) return parseJson;
  if (mediaType === 'application/x-www-form-urlencoded' && isUtf8) return parseForm;
  throw new AppError('unsupported_media_type', `Unsupported media type "${contentType.slice(0, 200)}" in request.`);
}

function parseForm(bytes: Buffer): unknown {
  let fields = 1;
  for (let at = bytes.indexOf('&'); at >= 0; at = bytes.indexOf('&', at + 1)) fields += 1;
  if (fields > maxFormFields) {
    throw new AppError('invalid', `A form can have at most ${maxFormFields} fields.`, { code: 'parse_error' });
  }
  return Object.fromEntries(new URLSearchParams(bytes.toString('utf8')));
}

function asAppError(error: unknown): AppError {
  const { type, message } = error as { type?: string; message?: string };
  switch (type) {
    case 'entity.too.large':
      return tooLarge(error);
    case 'encoding.unsupported':
      return new AppError('unsupported_media_type', `Unsupported content encoding: ${message ?? ''}`, { cause: error });
    case 'request.aborted':
      return clientDisconnectedError(error);
    default:
      return new AppError('invalid', 'The body could not be read.', { code: 'parse_error', cause: error });
  }
}

function tooLarge(cause?: unknown): AppError {
  return new AppError('too_large', 'Request too large.', { cause });
}

/**
 * Checks that the client is still connected. Call this function before reading a body. After a disconnect, nothing more
 * arrives, not even the end of the body. `readForm` would then wait indefinitely, and the JSON reader would treat the
 * body as empty.
 * @throws AppError `timeout`
 */
export function requireConnectedClient(request: IncomingMessage): void {
  if (request.destroyed) throw clientDisconnectedError();
}

export function clientDisconnectedError(cause?: unknown): AppError {
  return new AppError('timeout', 'The client stopped sending data.', { cause });
}
