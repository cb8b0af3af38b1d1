import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { call, type Query } from '../../api/request.ts';
import type { IconName } from '../../parts/icon.tsx';
import { Empty } from '../../parts/states.tsx';

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

/** Where a list of what is made here is still empty: the kinds there are, with what each needs, and the way to the first one. */
export function NoneYet({
  title,
  icon,
  about,
  kinds,
  children,
}: {
  title: string;
  icon: IconName;
  about: string;
  kinds: readonly { name: string; needs: string }[];
  /** Its button. */
  children: ReactNode;
}) {
  return (
    <Empty title={title} icon={icon}>
      <p className="quiet">{about}</p>
      <dl className="settings-kinds">
        {kinds.map(({ name, needs }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="quiet">{needs}</dd>
          </div>
        ))}
      </dl>
      <div className="form-buttons">{children}</div>
    </Empty>
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
