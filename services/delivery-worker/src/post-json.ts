// Sends JSON documents to webhooks.

import { sendOutbound } from '@millrace/runtime/outbound';

/** A request's outcome: the response status, or the code of a failure. */
export type PostOutcome = { result: 'responded'; status: number } | { result: 'unreachable'; code: string };

interface PostOptions {
  /** The key that all attempts share, so that the receiver can recognize a retry. */
  idempotencyKey: string;
  /**
   * Time limit in milliseconds from the DNS lookup to the response headers. The body is not read, because only the
   * status matters.
   */
  timeoutMs: number;
  mayBePrivate: boolean;
}

/**
 * Sends a JSON document by POST. Does not follow redirects, because their address has not been checked. Never throws.
 */
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
