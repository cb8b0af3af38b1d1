// The URL parameters of the Insights page, and the API requests for loading insights and running queries.

import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type ApiCall, ApiProblem, call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { part, useUrlState } from '../../parts/address.ts';
import { useDebounced } from '../../parts/debounced.ts';
import { createDrafts } from '../../parts/drafts.ts';
import type { InsightQuery } from '../../results/insight-query.ts';
import { findFormPart, isComplete } from './query.ts';

const parts = {
  /** Short ID of the open insight, or `new`. Empty while the list is shown. */
  insight: part.text(),
  /** JSON of the edited query. Empty to use the saved query. */
  query: part.text(),
  search: part.text(),
  order: part.oneOf(
    ['-last_modified_at', 'last_modified_at', 'name', '-name', 'last_modified_by', '-last_modified_by'],
    '-last_modified_at',
  ),
  favorites: part.flag(),
  /** JSON of the chart point whose persons are shown. */
  persons: part.text(),
};

/**
 * JSON of unsaved queries, by the insight's short ID or `new`. The browser does not warn before a new query is lost,
 * because most new queries are never meant to be saved.
 */
export const insightDrafts = createDrafts<string>((id) => id !== 'new');

export const useInsightsUrlState = () => useUrlState(parts);
export type InsightsUrlState = ReturnType<typeof useInsightsUrlState>;

export interface Insight {
  id: number;
  short_id: string;
  name: string | null;
  derived_name: string | null;
  description: string | null;
  query: unknown;
  tags: string[];
  favorited: boolean;
  dashboards: number[];
  last_modified_at: string;
  last_modified_by: { first_name: string; email: string } | null;
}

export interface QueryResponse {
  results: unknown;
  columns?: string[];
  hasMore?: boolean;
  is_cached: boolean;
  last_refresh: string;
  timezone: string;
}

export const createQueryCall = (projectId: number, query: unknown, refresh?: string): ApiCall => ({
  method: 'POST',
  path: `/api/projects/${projectId}/query`,
  body: { query, ...(refresh !== undefined && { refresh }) },
});

export type QueryResult = QueryResponse & {
  /**
   * The query that returned this result. It differs from the query in the form while the user is editing or a newer
   * query is running.
   */
  insightQuery: InsightQuery;
};

export type ShownResult = Pick<
  UseQueryResult<QueryResult>,
  'data' | 'error' | 'failureReason' | 'isFetching' | 'isPlaceholderData' | 'refetch'
>;

/**
 * Runs a query when the user stops editing. The previous result remains visible while a query is incomplete or running,
 * or if the API rejects a field.
 * @returns the result, and `problem`, the API's reason for rejecting the query
 */
export function useQueryResult(insightQuery: InsightQuery, isNew: number): { result: ShownResult; problem: string } {
  const { id } = useProject();
  const current = JSON.stringify(insightQuery);
  const [complete, setComplete] = useState(current);
  if (current !== complete && isComplete(insightQuery)) setComplete(current);
  const json = useDebounced(complete);
  const query = useQuery({
    queryKey: ['result', id, json, isNew],
    queryFn: async ({ signal }): Promise<QueryResult> => {
      const insightQuery: InsightQuery = JSON.parse(json);
      const refresh = isNew > 0 ? 'force_blocking' : undefined;
      return { ...(await call<QueryResponse>(createQueryCall(id, insightQuery, refresh), signal)), insightQuery };
    },
    placeholderData: (before) => before,
    staleTime: 60_000,
    retry: (failures, error) => (error as { status?: number }).status === 429 && failures < 3,
  });
  const [last, setLast] = useState<QueryResult>();
  const { data } = query;
  useEffect(() => {
    if (data) setLast(data);
  }, [data]);
  const problem = query.error instanceof ApiProblem && query.error.status === 400 ? query.error.message : '';
  // The form shows an error next to the field that caused it, so the result does not repeat the error.
  const isShownInForm = findFormPart(problem) !== '' && last !== undefined;
  return { result: isShownInForm ? { ...query, data: last, error: null } : query, problem };
}
