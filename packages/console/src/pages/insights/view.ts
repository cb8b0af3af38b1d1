import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Question } from '../../answers/question.ts';
import { type ApiCall, ApiProblem, call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { part, useAddress } from '../../parts/address.ts';
import { createDrafts } from '../../parts/drafts.ts';
import { useRested } from '../../parts/rested.ts';
import { isComplete, partOf } from './question.ts';

const parts = {
  /** Its short id, or `new`; empty: the list. */
  insight: part.text(),
  /** JSON of the question, where it is not the stored one. */
  question: part.text(),
  search: part.text(),
  order: part.oneOf(
    ['-last_modified_at', 'last_modified_at', 'name', '-name', 'last_modified_by', '-last_modified_by'],
    '-last_modified_at',
  ),
  favorites: part.flag(),
  /** JSON of the point whose persons are shown. */
  persons: part.text(),
};

/** JSON of unsaved queries, by the short ID of their insight or `new`. Most new queries are never meant to be saved. */
export const insightDrafts = createDrafts<string>((id) => id !== 'new');

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
  favorited: boolean;
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

export type Answered = Answer & {
  /** The query that this is the result of: another one than in the form while that one is edited or still runs. */
  question: Question;
};

/** What pages show of a query that runs. */
export type ShownAnswer = Pick<
  UseQueryResult<Answered>,
  'data' | 'error' | 'failureReason' | 'isFetching' | 'isPlaceholderData' | 'refetch'
>;

/**
 * The result of a query, once it rests. The result before stays while a query is incomplete, still runs, or has a field that the API rejects.
 * @returns `problem`, the reason for a rejection
 */
export function useAnswer(question: Question, isNew: number): { answer: ShownAnswer; problem: string } {
  const { id } = useProject();
  const current = JSON.stringify(question);
  const [complete, setComplete] = useState(current);
  if (current !== complete && isComplete(question)) setComplete(current);
  const json = useRested(complete);
  const query = useQuery({
    queryKey: ['answer', id, json, isNew],
    queryFn: async ({ signal }): Promise<Answered> => {
      const asked: Question = JSON.parse(json);
      const refresh = isNew > 0 ? 'force_blocking' : undefined;
      return { ...(await call<Answer>(questionCall(id, asked, refresh), signal)), question: asked };
    },
    placeholderData: (before) => before,
    staleTime: 60_000,
    retry: (failures, error) => (error as { status?: number }).status === 429 && failures < 3,
  });
  const [last, setLast] = useState<Answered>();
  const { data } = query;
  useEffect(() => {
    if (data) setLast(data);
  }, [data]);
  const problem = query.error instanceof ApiProblem && query.error.status === 400 ? query.error.message : '';
  // What is wrong with a field is shown next to it.
  const isShownInForm = partOf(problem) !== '' && last !== undefined;
  return { answer: isShownInForm ? { ...query, data: last, error: null } : query, problem };
}
