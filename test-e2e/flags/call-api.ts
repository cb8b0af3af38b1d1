import type { CaseFlag } from './flag-cases.ts';

export interface ApiCaller {
  apiUrl: string;
  projectId: number;
  personalApiKey: string;
}

export interface ApiResult {
  id?: number;
  /** Operators of a flag's stored filters. */
  operators?: string;
  refused: string | null;
}

/** @throws Error for an unexpected response */
export async function callApi(
  { apiUrl, projectId, personalApiKey }: ApiCaller,
  method: string,
  path: string,
  body: object,
): Promise<ApiResult> {
  const response = await fetch(`${apiUrl}/api/projects/${projectId}/${path}`, {
    method,
    headers: { authorization: `Bearer ${personalApiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const parsed = (await response.json()) as { id?: number; filters?: CaseFlag['filters']; detail?: string };
  if (response.status === 400) return { refused: parsed.detail ?? '' };
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(parsed)}`);
  return {
    refused: null,
    ...(parsed.id === undefined ? {} : { id: parsed.id }),
    ...(parsed.filters?.groups ? { operators: listOperators(parsed.filters) } : {}),
  };
}

/** Returns the operators of all of a flag's filters, in order. A cohort filter may have no operator. */
export function listOperators(filters: CaseFlag['filters']): string {
  const all = filters.groups.flatMap(({ properties = [] }) => properties);
  return all.map(({ operator, type }) => operator ?? (type === 'cohort' ? 'in' : '')).join();
}
