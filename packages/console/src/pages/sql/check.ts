// Checks the query while the user types, and marks errors in the editor.

import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { useDebounced } from '../../parts/debounced.ts';
import { findVariableProblem, type SqlSource, type VariableProblem } from '../../sql/node.ts';
import type { Mark } from './editor/marks.ts';

export interface Problem extends Mark {
  /** Line and column, counted from 1. Null if the problem concerns the entire query. */
  place: { line: number; column: number } | null;
}

interface Note {
  message: string;
  start?: number;
  end?: number;
  /** The property whose type the API describes in this note. */
  property?: string;
}

interface Metadata {
  errors: Note[];
  warnings: Note[];
  notices: Note[];
}

const none: readonly Problem[] = [];

/** Checks a query when the user stops typing. Returns its problems, or an empty list during the check. */
export function useQueryCheck({ query, variables, filters }: SqlSource): {
  problems: readonly Problem[];
  variable: VariableProblem | null;
} {
  const { id } = useProject();
  const current = JSON.stringify({ query, variables, filters });
  const rested = useDebounced(current);
  const { data, error } = useQuery({
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
  const isCurrent = rested === current && query.trim() !== '';
  const found = isCurrent ? data : undefined;
  const problems = useMemo(() => {
    if (found === undefined) return none;
    const of = (severity: Mark['severity'], notes: readonly Note[]) =>
      notes.map((note) => problemOf(query, severity, note));
    // Omit hints about property types, because they distract from problems and are also in the completion list.
    const hints = found.notices.filter(({ property }) => property === undefined);
    return [...of('error', found.errors), ...of('warning', found.warnings), ...of('info', hints)];
  }, [found, query]);
  return { problems, variable: isCurrent ? findVariableProblem(error) : null };
}

function problemOf(query: string, severity: Mark['severity'], { message, start, end }: Note): Problem {
  if (start === undefined) return { from: 0, to: query.length, severity, message, place: null };
  const from = unitsOf(query, start);
  const before = query.slice(0, from).split('\n');
  return {
    from,
    to: unitsOf(query, end ?? start + 1),
    severity,
    message,
    place: { line: before.length, column: [...(before.at(-1) ?? '')].length + 1 },
  };
}

/**
 * Converts a number of characters to UTF-16 code units. The API counts characters, but JavaScript strings count code
 * units.
 */
const unitsOf = (query: string, characters: number) => [...query].slice(0, characters).join('').length;
