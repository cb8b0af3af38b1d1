/**
 * Sends a request to a service that was just started, and waits up to 30 s until it responds.
 * @throws Error with the response if the service rejects the request
 */
export async function fetchJson(url: string, init: RequestInit): Promise<unknown> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(30_000) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} responded with ${response.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text) as unknown;
}
