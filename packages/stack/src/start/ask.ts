/** Asks a service that has just started, and waits half a minute at most. @throws Error with what it answered, where it refused. */
export async function ask(url: string, init: RequestInit): Promise<unknown> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(30_000) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} responded with ${response.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text) as unknown;
}
