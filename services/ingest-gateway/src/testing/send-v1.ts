import { randomUUID } from 'node:crypto';
import type { TestGateway } from './test-gateway.ts';

export interface V1Request {
  path?: string;
  method?: string;
  /** Changes to the default headers. A null value removes the header. */
  headers?: Record<string, string | null>;
  /** Strings and bytes are sent unchanged, and everything else as JSON. */
  body?: unknown;
}

export interface V1Response {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests say themselves what they expect in it
  json: any;
}

export const v1Origin = 'https://app.example';
export const v1RequestId = randomUUID();

export const v1Event = (fields: object = {}) => ({
  event: 'order placed',
  uuid: randomUUID(),
  distinct_id: 'u-1',
  timestamp: new Date().toISOString(),
  options: {},
  properties: { total: 42 },
  ...fields,
});

export const v1Batch = (...batch: unknown[]) => ({ created_at: new Date().toISOString(), batch });

export async function sendV1(gateway: TestGateway, token: string, sending: V1Request): Promise<V1Response> {
  const { path = '/i/v1/analytics/events', method = 'POST', headers = {}, body } = sending;
  const all: Record<string, string | null> = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'user-agent': 'test/1',
    'posthog-sdk-info': 'posthog-test/1.2.3',
    'posthog-attempt': '1',
    'posthog-request-id': v1RequestId,
    'posthog-request-timestamp': new Date().toISOString(),
    origin: v1Origin,
    ...headers,
  };
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(gateway.url + path, {
    method,
    redirect: 'manual',
    headers: Object.entries(all).flatMap(([name, value]): [string, string][] =>
      value === null ? [] : [[name, value]],
    ),
    ...(body === undefined ? {} : { body: isRaw ? (body as string) : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: text === '' ? null : JSON.parse(text) };
}
