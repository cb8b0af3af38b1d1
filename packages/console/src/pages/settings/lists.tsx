import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { call, type Query } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { text } from './words.ts';

interface Page<Row> {
  count: number;
  next: string | null;
  results: Row[];
}

const pageSize = 50;

/**
 * A list that the API gives by offset, page after page.
 * @param every how often it is asked for again, by what is in it; false = not
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
    // A page of large rows is shorter than asked for.
    getNextPageParam: ({ next, results }, _pages, offset) => (next === null ? undefined : offset + results.length),
    select: ({ pages }) => ({ count: pages[0]?.count ?? 0, rows: pages.flatMap(({ results }) => results) }),
    refetchInterval: ({ state }) => every?.(state.data?.pages.flatMap(({ results }) => results) ?? []) ?? false,
  });
}

/** The button below a list of which there is more. */
export function More({
  query,
}: {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}) {
  if (!query.hasNextPage) return null;
  return (
    <div className="form-buttons">
      <Button isDisabled={query.isFetchingNextPage} onPress={() => void query.fetchNextPage()}>
        {text.more}
      </Button>
    </div>
  );
}

/** The entry of a list that was open last: its link takes the focus when the list is back. @param open '' = the list */
export function useLastOpen(open: string): string {
  const last = useRef('');
  useEffect(() => {
    if (open !== '') last.current = open;
  }, [open]);
  return last.current;
}

/** For a `ref`. */
export const takeFocus = (element: HTMLElement | null) => element?.focus();
