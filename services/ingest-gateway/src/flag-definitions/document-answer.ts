import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FlagDocument } from '@millrace/flag-store';
import type { Answer } from '../answer/send-answer.ts';

const inflate = promisify(gunzip);

/** The document, or 304 for who has it: the tag weak or strong, in quotes or bare. */
export async function documentAnswer(request: IncomingMessage, { etag, gzipped }: FlagDocument): Promise<Answer> {
  const headers = {
    etag: `W/"${etag}"`,
    'cache-control': 'private, must-revalidate',
    vary: 'origin, accept-encoding, authorization',
  };
  if (hasTag(request.headers['if-none-match'], etag)) return { status: 304, body: '', headers };
  const takesGzip = /\bgzip\b/i.test(String(request.headers['accept-encoding'] ?? ''));
  const body = [takesGzip ? gzipped : await inflate(gzipped)];
  return { status: 200, body, headers: takesGzip ? { ...headers, 'content-encoding': 'gzip' } : headers };
}

function hasTag(sent: string | undefined, etag: string): boolean {
  return sent?.split(',').some((tag) => tag.trim().replace(/^W\//, '').replace(/^"|"$/g, '') === etag) ?? false;
}
