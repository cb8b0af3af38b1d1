import type { Asker } from './askers.ts';

/** Asks a gateway once. @returns how many flags are on. @throws Error for any answer but 200. */
export async function askFlags(
  port: number,
  projectApiKey: string,
  { distinctId, properties }: Asker,
): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/flags/?v=2`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: projectApiKey, distinct_id: distinctId, person_properties: properties }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`A question for flags was answered with ${response.status}: ${text}`);
  const { flags } = JSON.parse(text) as { flags: Record<string, { enabled: boolean }> };
  return Object.values(flags).filter(({ enabled }) => enabled).length;
}
