import type { TestGateway } from './test-gateway.ts';

export interface FlagReply {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every version
  body: any;
  /** Maps each flag to a string of its `value` and `code:index`, for responses with details. */
  flags: Record<string, string>;
}

export async function sendFlagRequest(
  gateway: TestGateway,
  question: Record<string, unknown>,
  { path = '/flags?v=2', headers = {} }: { path?: string; headers?: Record<string, string> } = {},
): Promise<FlagReply> {
  const response = await fetch(gateway.url + path, { method: 'POST', body: JSON.stringify(question), headers });
  return readReply(response);
}

export async function readReply(response: Response): Promise<FlagReply> {
  const text = await response.text();
  const body = text.startsWith('{') ? JSON.parse(text) : null;
  return { status: response.status, headers: response.headers, body, flags: inShort(body?.flags) };
}

interface Details {
  enabled: boolean;
  variant: string | null;
  failed?: boolean;
  reason: { code: string; condition_index: number | null };
}

function inShort(flags: Record<string, Details> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(flags).map(([key, { enabled, variant, failed, reason }]) => {
      const value = enabled ? (variant ?? true) : false;
      return [key, `${value} ${failed ? 'failed:' : ''}${reason.code}:${reason.condition_index}`];
    }),
  );
}
