import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { useRested } from '../../parts/rested.ts';
import type { SqlSource } from '../../sql/node.ts';
import type { Mark } from './editor/create-editor.ts';

/** A problem of a query. */
export interface Problem extends Mark {
  /** From 1. Null if it is about the query as a whole. */
  place: { line: number; column: number } | null;
}

interface Metadata {
  errors: { message: string; start?: number; end?: number }[];
}

const none: readonly Problem[] = [];

/** The problems of a query, which is checked when the user stops typing. Empty while the check runs. */
export function useCheck({ query, variables, filters }: SqlSource): readonly Problem[] {
  const { id } = useProject();
  const current = JSON.stringify({ query, variables, filters });
  const rested = useRested(current);
  const { data } = useQuery({
    queryKey: ['sql check', id, rested],
    queryFn: ({ signal }) =>
      call<Metadata>(
        {
          method: 'POST',
          path: `/api/projects/${id}/query`,
          body: { query: { kind: 'HogQLMetadata', language: 'hogQL', ...JSON.parse(rested) } },
        },
        signal,
      ),
    enabled: query.trim() !== '' && rested === current,
    staleTime: 60_000,
    retry: false,
  });
  const errors = rested === current && query.trim() !== '' ? data?.errors : undefined;
  return useMemo(() => errors?.map((error) => problemOf(query, error)) ?? none, [errors, query]);
}

function problemOf(query: string, { message, start, end }: Metadata['errors'][number]): Problem {
  if (start === undefined) return { from: 0, to: query.length, message, place: null };
  const from = unitsOf(query, start);
  const before = query.slice(0, from).split('\n');
  return {
    from,
    to: unitsOf(query, end ?? start + 1),
    message,
    place: { line: before.length, column: [...(before.at(-1) ?? '')].length + 1 },
  };
}

/** The API counts characters, and a text of JavaScript counts UTF-16 units. */
const unitsOf = (query: string, characters: number) => [...query].slice(0, characters).join('').length;
