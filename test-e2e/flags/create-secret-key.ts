import type { TestTenant } from '@millrace/testing';
import type { RunningServices } from '../support/start-services.ts';

/** Creates a secret key. @returns the key (`phs_…`) that a server SDK uses to read flag definitions */
export async function createSecretKey(
  { apiUrl }: RunningServices,
  { environmentId, personalApiKey }: TestTenant,
): Promise<string> {
  const response = await fetch(`${apiUrl}/api/environments/${environmentId}/rotate_secret_token/`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${personalApiKey}` },
  });
  const parsed = (await response.json()) as { secret_api_token?: string };
  if (!parsed.secret_api_token?.startsWith('phs_')) throw new Error(`No secret key was made: ${response.status}`);
  return parsed.secret_api_token;
}
