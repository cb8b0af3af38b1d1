import { useQuery } from '@tanstack/react-query';
import type { Question } from '../../answers/question.ts';
import { type ApiCall, call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { part, useAddress } from '../../parts/address.ts';
import { useRested } from '../../parts/rested.ts';

const parts = {
  /** Its short id, or `new`; empty: the list. */
  insight: part.text(),
  /** JSON of the question, where it is not the stored one. */
  question: part.text(),
  search: part.text(),
  /** JSON of the point whose persons are shown. */
  persons: part.text(),
};

export const useInsightsAddress = () => useAddress(parts);
export type InsightsAddress = ReturnType<typeof useInsightsAddress>;

export interface Insight {
  id: number;
  short_id: string;
  name: string | null;
  derived_name: string | null;
  description: string | null;
  query: unknown;
  tags: string[];
  /** Numbers of those it is on. */
  dashboards: number[];
  last_modified_at: string;
  last_modified_by: { first_name: string; email: string } | null;
}

export interface Answer {
  results: unknown;
  columns?: string[];
  hasMore?: boolean;
  is_cached: boolean;
  last_refresh: string;
  timezone: string;
}

export const questionCall = (projectId: number, query: unknown, refresh?: string): ApiCall => ({
  method: 'POST',
  path: `/api/projects/${projectId}/query`,
  body: { query, ...(refresh !== undefined && { refresh }) },
});

/** The answer to a question, once it rests; the one before stays until it is there. */
export function useAnswer(question: Question, isNew: number) {
  const { id } = useProject();
  const json = useRested(JSON.stringify(question));
  return useQuery({
    queryKey: ['answer', id, json, isNew],
    queryFn: ({ signal }) =>
      call<Answer>(questionCall(id, JSON.parse(json), isNew > 0 ? 'force_blocking' : undefined), signal),
    placeholderData: (before) => before,
    staleTime: 60_000,
    retry: (failures, error) => (error as { status?: number }).status === 429 && failures < 3,
  });
}
