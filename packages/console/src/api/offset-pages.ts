import { useInfiniteQuery } from '@tanstack/react-query';
import { call, type Query } from './request.ts';

interface Page<Row> {
  count: number;
  next: string | null;
  results: Row[];
}

const pageSize = 50;

/**
 * Loads a list page by page with limit and offset.
 * @param every a function that returns the reload interval in milliseconds for the loaded rows, or false to stop
 * reloading
 */
export function useOffsetPages<Row>(
  queryKey: readonly unknown[],
  { path, query = {}, every }: { path: string; query?: Query; every?: (rows: Row[]) => number | false },
) {
  return useInfiniteQuery({
    queryKey: [...queryKey, query],
    queryFn: ({ pageParam, signal }) =>
      call<Page<Row>>({ path, query: { ...query, limit: pageSize, offset: pageParam } }, signal),
    initialPageParam: 0,
    // The API returns fewer rows than requested if the rows are large.
    getNextPageParam: ({ next, results }, _pages, offset) => (next === null ? undefined : offset + results.length),
    select: ({ pages }) => ({ count: pages[0]?.count ?? 0, rows: pages.flatMap(({ results }) => results) }),
    refetchInterval: ({ state }) => every?.(state.data?.pages.flatMap(({ results }) => results) ?? []) ?? false,
  });
}
