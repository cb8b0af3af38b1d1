import type { ApiRequest } from '@millrace/http';

/** A key as the request carried it, and where, for the sentence of a refusal. */
export interface GivenKey {
  value: string;
  source: 'Authorization header' | 'body' | 'query string';
}

/**
 * Looks for a personal API key where clients put it, first hit wins: `Authorization: Bearer <key>` (the word in
 * any case, as RFC 9110 has it; extra spaces are tolerated), then the field `personal_api_key` of the query, then of the
 * body (docs/api-rules.md#personal-api-keys; only the header was ordered). The body comes last, because
 * it has to be read for it; a large or compressed one is not.
 *
 * @returns null when there is none.
 */
export async function findPersonalKey(request: ApiRequest): Promise<GivenKey | null> {
  const header = /^Bearer\s+(\S.*)$/i.exec(request.header('authorization')?.trim() ?? '')?.[1];
  if (header) return { value: header.trim(), source: 'Authorization header' };
  const fromQuery = request.query.get('personal_api_key');
  if (fromQuery) return { value: fromQuery, source: 'query string' };
  const fromBody = await keyInBody(request);
  return fromBody === null ? null : { value: fromBody, source: 'body' };
}

/** A body that cannot be read holds no key; whether it is an error is for the route to say, after 401. */
async function keyInBody(request: ApiRequest): Promise<string | null> {
  const body = await request.smallBody().catch(() => null);
  const key = (body as { personal_api_key?: unknown } | null)?.personal_api_key;
  return typeof key === 'string' && key !== '' ? key : null;
}
