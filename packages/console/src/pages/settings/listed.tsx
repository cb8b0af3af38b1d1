import { useInfiniteQuery } from '@tanstack/react-query';
import { call, type Query } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { text } from './words.ts';

const pageSize = 100;

interface Page<Item> {
  count: number;
  next: string | null;
  results: Item[];
}

/** A list of the API, page by page: usually there is one. */
export function useListed<Item>(key: readonly unknown[], request: { path: string; query?: Query }) {
  return useInfiniteQuery({
    queryKey: [...key, request],
    queryFn: ({ pageParam, signal }) =>
      call<Page<Item>>({ path: request.path, query: { ...request.query, limit: pageSize, offset: pageParam } }, signal),
    initialPageParam: 0,
    // A page of large rows is shorter than asked for.
    getNextPageParam: ({ next }, pages) =>
      next === null ? undefined : pages.reduce((sum, { results }) => sum + results.length, 0),
    select: ({ pages }) => ({ count: pages[0]?.count ?? 0, items: pages.flatMap(({ results }) => results) }),
  });
}

/** Below the list, where there is more. */
export function More({ query }: { query: ReturnType<typeof useListed> }) {
  if (!query.hasNextPage) return null;
  return (
    <div className="form-buttons">
      <Button isDisabled={query.isFetchingNextPage} onPress={() => void query.fetchNextPage()}>
        {text.more}
      </Button>
    </div>
  );
}
