// Loads the insight or dashboard of a public page.

import { useQueries, useQuery } from '@tanstack/react-query';
import { ApiProblem, call } from '../api/request.ts';
import type { Tile } from '../pages/dashboards/shapes.ts';

interface SharedTile extends Pick<Tile, 'layouts'> {
  text: string | null;
  name: string | null;
}

interface Shared {
  type: 'insight' | 'dashboard';
  name: string | null;
  description: string;
  timezone: string;
  theme: 'light' | 'dark' | 'system';
  tiles: SharedTile[];
}

export interface SharedInsight {
  status: 'ready' | 'pending' | 'failed' | 'hidden';
  name: string | null;
  query: unknown;
  result: unknown;
  columns: string[] | null;
  last_refresh: string | null;
}

/** Reload interval. Reloading keeps wall displays up to date, and detects whether the public link was turned off. */
const everyMs = 5 * 60_000;
const pendingMs = 5000;

/** Loads the tiles one after the other, because computing all results at the same time would overload the server. */
export function useSharedPage(token: string) {
  const path = `/api/shared/${token}`;
  const page = useQuery({
    queryKey: ['shared', token],
    queryFn: ({ signal }) => call<Shared>({ path }, signal),
    refetchInterval: everyMs,
  });
  const tiles = page.data?.tiles ?? [];
  const results = useQueries({
    queries: tiles.map(({ text }, at) => ({
      queryKey: ['shared', token, at],
      queryFn: ({ signal }: { signal: AbortSignal }) => call<SharedInsight>({ path: `${path}/tiles/${at}` }, signal),
      enabled: text === null,
      refetchInterval: ({ state }: { state: { data?: SharedInsight | undefined } }) =>
        state.data?.status === 'pending' ? pendingMs : everyMs,
    })),
  });
  const isGone = page.error instanceof ApiProblem && page.error.status === 404;
  return { page, tiles: tiles.map((tile, at) => ({ ...tile, result: results[at] })), isGone };
}

export type LoadedTile = ReturnType<typeof useSharedPage>['tiles'][number];
