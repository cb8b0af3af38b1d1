import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '@millrace/errors';
import express, { type Request, type Response } from 'express';
import { checkJson } from '../schema/check-json.ts';

export type JsonBodyReader = (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;

/**
 * Reads JSON bodies, and simple forms, of at most `limitBytes` (after inflating). An empty body counts as `{}`.
 *
 * The reader throws AppError: `unsupported_media_type` for another content type or encoding, `too_large`, `invalid` with
 * code `parse_error` for broken JSON, `null_characters_not_allowed` for what PostgreSQL cannot store.
 */
export function createJsonBodyReader(limitBytes: number): JsonBodyReader {
  const readRaw = express.raw({ type: () => true, limit: limitBytes });
  return async (request, response) => {
    // It reads from any request of Node's and leaves the bytes in `body`.
    const read = request as Request;
    const bytes = await new Promise<unknown>((resolve, reject) => {
      readRaw(read, response as Response, (error?: unknown) =>
        error ? reject(asAppError(error)) : resolve(read.body),
      );
    });
    if (!Buffer.isBuffer(bytes) || bytes.length === 0) return {};
    const value = parserOf(request.headers['content-type'] ?? '')(bytes);
    checkJson(value);
    return value;
  };
}

/** Forms are read for old scripts (reference/management-api.md 2.2): a field given twice counts once, the last time. */
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
  return Object.fromEntries(new URLSearchParams(bytes.toString('utf8')));
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    // The parser's own text quotes the body, which is nobody's business but the sender's: not kept for the log.
    const reason = cause instanceof SyntaxError ? cause.message.slice(0, 200) : 'the body is not valid UTF-8';
    throw new AppError('invalid', `JSON parse error - ${reason}`, { code: 'parse_error' });
  }
}

/** The errors of Express's body reader, told by their `type`. */
function asAppError(error: unknown): AppError {
  const { type, message } = error as { type?: string; message?: string };
  switch (type) {
    case 'entity.too.large':
      return new AppError('too_large', 'Request too large.', { cause: error });
    case 'encoding.unsupported':
      return new AppError('unsupported_media_type', `Unsupported content encoding: ${message ?? ''}`, { cause: error });
    case 'request.aborted':
      return new AppError('timeout', 'The client stopped sending data.', { cause: error });
    default:
      return new AppError('invalid', 'The body could not be read.', { code: 'parse_error', cause: error });
  }
}
