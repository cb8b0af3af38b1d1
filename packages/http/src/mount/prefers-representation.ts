import type { ApiRequest } from '../route/api-request.ts';

/**
 * Whether the request asks for the changed record in the answer: `Prefer: return=representation` (RFC 7240), alone or
 * among other preferences, in any case and with or without quotes.
 */
export function prefersRepresentation(request: ApiRequest): boolean {
  const preferences = (request.header('prefer') ?? '').toLowerCase().split(/[,;]/);
  return preferences.some((preference) => /^\s*return\s*=\s*"?representation"?\s*$/.test(preference));
}
