import { sendOutbound } from '@millrace/runtime/outbound';

/** The outcome of a request: the status of the response, or the code of the failure to get one. */
export type PostOutcome = { result: 'answered'; status: number } | { result: 'unreachable'; code: string };

interface PostOptions {
  /** Same at every attempt, so that a receiver can recognize a repetition. */
  idempotencyKey: string;
  /** From the lookup to the headers of the response. Only the status counts, so its body is not read. */
  timeoutMs: number;
  mayBePrivate: boolean;
}

/** Makes one POST of a JSON document. Redirects are not followed, because their address was not checked. Never throws. */
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
    const request = { method: 'POST', headers, body, timeoutMs, mayBePrivate, mostBytes: 'none' } as const;
    const { status } = await sendOutbound(new URL(address), request);
    return { result: 'answered', status };
  } catch (error) {
    const { code, name } = error as { code?: unknown; name?: unknown };
    return { result: 'unreachable', code: typeof code === 'string' ? code : String(name ?? 'UNKNOWN') };
  }
}
