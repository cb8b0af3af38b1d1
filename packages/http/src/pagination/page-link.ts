import type { ApiRequest } from '../route/api-request.ts';

/**
 * The absolute address of another page of the same list: the caller's own path and query parameters, sorted by name,
 * with some of them replaced (`null` removes one; docs/api-rules.md#pages).
 */
export function pageLink(request: ApiRequest, changes: Record<string, string | number | null>): string {
  const query = new URLSearchParams(request.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, String(value));
  }
  query.sort();
  const text = query.toString();
  return `${request.baseUrl}${request.path}${text === '' ? '' : `?${text}`}`;
}
