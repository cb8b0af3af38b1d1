// Sends JSON documents to webhooks.

import { sendOutbound } from '@millrace/runtime/outbound';

/** The response status, or an error code if the server did not respond. */
export type PostOutcome = { result: 'responded'; status: number } | { result: 'unreachable'; code: string };

interface PostOptions {
  /** All attempts share this key, so that the receiver can recognize a retry. */
  idempotencyKey: string;
  /** Time limit in milliseconds from the DNS lookup to the response headers. The body is not read. */
  timeoutMs: number;
  mayBePrivate: boolean;
}

/** Sends a JSON document by POST. Does not follow redirects, because their address was not checked. Never throws. */
export async function postJson(
  address: string,
  document: unknown,
  { idempotencyKey, timeoutMs, mayBePrivate }: PostOptions,
): Promise<PostOutcome> {
  try {
    const body = JSON.stringify(document);
    const headers = {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'idempotency-key': idempotencyKey,
      'user-agent': 'Millrace',
    };
    const request = { method: 'POST', headers, body, timeoutMs, mayBePrivate, maxBytes: 'none' } as const;
    const { status } = await sendOutbound(new URL(address), request);
    return { result: 'responded', status };
  } catch (error) {
    const { code, name } = error as { code?: unknown; name?: unknown };
    return { result: 'unreachable', code: typeof code === 'string' ? code : String(name ?? 'UNKNOWN') };
  }
}
