import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { checkLiteralHost, guardedLookup } from '@millrace/runtime/outbound';

/** What came of a request: an answer's status, or the code of the failure to get one. */
export type PostOutcome = { result: 'answered'; status: number } | { result: 'unreachable'; code: string };

interface PostOptions {
  /** Same at every attempt, so that a receiver can tell a repetition. */
  idempotencyKey: string;
  /** From the first lookup to the end of the answer. */
  timeoutMs: number;
  mayBePrivate: boolean;
}

/** Makes one POST of a JSON document. Redirects are not followed: they would lead where nobody has looked. Never throws. */
export async function postJson(address: string, document: unknown, options: PostOptions): Promise<PostOutcome> {
  try {
    const url = new URL(address);
    checkLiteralHost(url.hostname, options.mayBePrivate);
    const status = await post(url, JSON.stringify(document), {
      ...options,
      lookup: guardedLookup(options.mayBePrivate),
    });
    return { result: 'answered', status };
  } catch (error) {
    const { code, name } = error as { code?: unknown; name?: unknown };
    return { result: 'unreachable', code: typeof code === 'string' ? code : String(name ?? 'UNKNOWN') };
  }
}

function post(
  url: URL,
  body: string,
  { idempotencyKey, timeoutMs, lookup }: PostOptions & { lookup: LookupFunction },
): Promise<number> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = send(
      url,
      {
        method: 'POST',
        lookup,
        signal: AbortSignal.timeout(timeoutMs),
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'idempotency-key': idempotencyKey,
          'user-agent': 'Millrace',
        },
      },
      (response) => {
        // The status is all that counts; what else is said is not even read.
        resolve(response.statusCode ?? 0);
        response.destroy();
      },
    );
    // An answer of 101 is told as this and nothing else. Without a listener the request would never end.
    request.on('upgrade', (response, socket) => {
      resolve(response.statusCode ?? 0);
      socket.destroy();
    });
    request.on('error', reject);
    request.end(body);
  });
}
