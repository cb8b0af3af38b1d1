// Loads a dashboard and the results of its tiles.

import { useMutation, useQueries, useQuery } from '@tanstack/react-query';
import { queryClient } from '../../api/queries.ts';
import { type ApiCall, call } from '../../api/request.ts';
import { parseRangeKey } from '../../filters/date-range.tsx';
import { useProject } from '../../frame/project.ts';
import { useDebounced } from '../../parts/debounced.ts';
import { findVariableNames, readSqlNode } from '../../sql/node.ts';
import type { VariableValues } from '../../sql/variables.ts';
import type { Dashboard, DashboardFilters, Tile, TileInsight } from './shapes.ts';

export interface DashboardView {
  /** Key of the user's date range. Empty to use the saved date range. */
  time: string;
  /** The user's filters. Null to use the saved filters. */
  filters: readonly unknown[] | null;
  /** The user's variable values by variable ID, if they differ from the saved values. */
  variables: VariableValues;
}

export interface TileState {
  tile: Tile;
  /** The latest result, which remains visible while a newer result is being computed. */
  insight: TileInsight | null;
  isLoading: boolean;
  error: unknown;
}

/** Maximum number of tiles that load at the same time, so that they do not block other requests. */
const atOnce = 3;
const runQueued = limited(atOnce);

/**
 * Loads a dashboard with the saved view or the user's own view. Each tile loads separately, so that a slow insight does
 * not delay the other tiles.
 */
export function useDashboard(id: string, { time, filters, variables: values }: DashboardView) {
  const project = useProject();
  const path = `/api/projects/${project.id}/dashboards/${encodeURIComponent(id)}`;
  const isOwnView = time !== '' || filters !== null;
  // Filters in a request replace all saved filters, so a request for the user's own view must include the saved
  // filters.
  const stored = useQuery({
    queryKey: ['dashboards', project.id, 'stored', id],
    queryFn: ({ signal }) => call<Dashboard>({ path }, signal),
    enabled: isOwnView,
  });
  const own: DashboardFilters = {
    ...stored.data?.persisted_filters,
    ...(time !== '' && { date_to: undefined, ...parseRangeKey(time) }),
    ...(filters !== null && { properties: filters }),
  };
  const override = isOwnView ? JSON.stringify(own) : undefined;
  const variables = useDebounced(Object.keys(values).length === 0 ? undefined : JSON.stringify(values));
  const board: ApiCall = { path, query: { filters_override: override } };
  const request: ApiCall = { path, query: { ...board.query, variables_override: variables } };
  const key = ['dashboards', project.id, 'one', id, isOwnView ? own : null];
  const query = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => call<Dashboard>(board, signal),
    enabled: !isOwnView || stored.data !== undefined || stored.error !== null,
  });
  const tiles = query.data?.tiles ?? [];
  const loaded = useTiles(id, tiles, { filters: override, variables });
  const setTiles = (next: Tile[]) => query.data && queryClient.setQueryData(key, { ...query.data, tiles: next });
  return { path, request, query, setTiles, ...loaded };
}

/** JSON of the user's filters and variable values, if they differ from the saved ones. */
interface Override {
  filters: string | undefined;
  variables: string | undefined;
}

export const usesVariables = (query: unknown) => findVariableNames(readSqlNode(query)?.source.query ?? '').length > 0;

function useTiles(dashboard: string, tiles: readonly Tile[], override: Override) {
  const project = useProject();
  const overrideOf = ({ query }: TileInsight) => ({
    filters_override: override.filters,
    variables_override: usesVariables(query) ? override.variables : undefined,
  });
  const keyOf = (insight: TileInsight) => [
    'tile',
    project.id,
    dashboard,
    insight.id,
    insight.query,
    overrideOf(insight),
  ];
  const load = (insight: TileInsight, refresh: string, signal?: AbortSignal) =>
    runQueued(() =>
      call<TileInsight>(
        {
          path: `/api/projects/${project.id}/insights/${insight.id}`,
          query: { from_dashboard: dashboard, ...overrideOf(insight), refresh },
        },
        signal,
      ),
    );
  const shown = tiles.flatMap(({ insight }) => insight ?? []);
  const results = useQueries({
    queries: shown.map((insight) => ({
      queryKey: keyOf(insight),
      queryFn: ({ signal }: { signal: AbortSignal }) => load(insight, 'blocking', signal),
      placeholderData: (before: TileInsight | undefined) => before,
      staleTime: 60_000,
    })),
  });
  const refresh = useMutation({
    mutationFn: () =>
      Promise.all(
        shown.map(async (insight) => queryClient.setQueryData(keyOf(insight), await load(insight, 'force_blocking'))),
      ),
  });
  const states = tiles.map((tile): TileState => {
    const at = shown.findIndex(({ id }) => id === tile.insight?.id);
    const result = results[at];
    const isOfTile = result?.data !== undefined && result.data.id === tile.insight?.id;
    return {
      tile,
      insight: isOfTile ? result.data : tile.insight,
      isLoading: result?.isFetching ?? false,
      error: result?.error ?? null,
    };
  });
  const times = states.flatMap(({ insight }) => insight?.last_refresh ?? []);
  const isLoading = refresh.isPending || states.some((state) => state.isLoading);
  return { states, refresh, isLoading, lastRefresh: times.sort()[0] ?? null };
}

/** Returns a function that limits how many calls run at the same time. Further calls are queued and start in order. */
function limited(count: number): <Result>(start: () => Promise<Result>) => Promise<Result> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (start) => {
    if (running < count) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await start();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
