/** Status 0 means that no response arrived. */
export interface ClientResponse {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** Posts a string, or a value as JSON. Does not throw for any response status. */
export async function post(url: string, body: unknown): Promise<ClientResponse> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new Error(`The body of a ${response.status} is not JSON: ${text.slice(0, 200)}`);
  }
  return { status: response.status, headers: response.headers, body: parsed as Record<string, unknown> };
}
