// Builds and runs the start page's queries. Runs at most two at a time, because the API allows only three per project.

import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { matchingText, part, useUrlState } from '../../parts/address.ts';
import { readFilter, toPropertyFilter } from './filters.ts';
import { text } from './words.ts';

export type Time = keyof typeof text.times;
const times = Object.keys(text.times) as Time[];

const isDay = (value: string) => /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value));

const parts = {
  time: part.oneOf<Time>(times, '-7d'),
  from: matchingText(isDay),
  to: matchingText(isDay),
  compare: part.oneOf(Object.keys(text.comparisons) as (keyof typeof text.comparisons)[], 'previous'),
  filters: part.list(),
  /** Whether internal and test users are excluded. Empty to use the project's default. */
  internal: part.oneOf(['', 'excluded', 'included'] as const, ''),
  pages: part.oneOf(['Page', 'InitialPage', 'ExitPage'] as const, 'Page'),
  sources: part.oneOf(
    [
      ...(['InitialReferringDomain', 'InitialUTMSource', 'InitialUTMMedium', 'InitialUTMCampaign'] as const),
      ...(['InitialUTMTerm', 'InitialUTMContent'] as const),
    ] as const,
    'InitialReferringDomain',
  ),
  devices: part.oneOf(['DeviceType', 'Browser', 'OS'] as const, 'DeviceType'),
};

export const useHomeUrlState = () => useUrlState(parts);
export type View = ReturnType<typeof useHomeUrlState>['view'];
export type Change = ReturnType<typeof useHomeUrlState>['change'];

/** The end of each time range that ends in the past, by the range's start. */
const ends: Partial<Record<Time, string>> = { '-1dStart': '-1dEnd', '-1mStart': '-1mEnd' };
const hourly = new Set<Time>(['dStart', '-1dStart', '-24h']);

export function buildCommonQueryFields({ time, from, to, compare, filters }: View, excludesInternal: boolean) {
  const isCustom = time === 'custom';
  const dateRange = isCustom
    ? { date_from: from === '' ? '-7d' : from, ...(to !== '' && { date_to: to }) }
    : { date_from: time, ...(ends[time] && { date_to: ends[time] }) };
  return {
    range: {
      dateRange,
      interval: hourly.has(time) ? 'hour' : 'day',
      filterTestAccounts: excludesInternal,
      properties: filters.flatMap((written) => {
        const filter = readFilter(written);
        return filter === null ? [] : [toPropertyFilter(filter)];
      }),
    },
    compareFilter: compare === 'none' ? undefined : { compare: true, ...(compare === 'year' && { compare_to: '-1y' }) },
  };
}

let running = 0;
const waiting: (() => void)[] = [];

async function runQueued<T>(work: () => Promise<T>): Promise<T> {
  if (running === 2) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

export interface QueryResponse<Results> {
  results: Results;
  hasMore?: boolean;
  last_refresh: string;
}

export const createQueryCall = (projectId: number, query: object, refresh?: string) => ({
  method: 'POST' as const,
  path: `/api/projects/${projectId}/query`,
  body: { query, ...(refresh !== undefined && { refresh }) },
});

/**
 * Runs a query. The previous result remains visible until the new result arrives.
 * @param round a number that increases with each manual refresh
 */
export function useWebQuery<Results>(query: object, round: number) {
  const { id } = useProject();
  return useQuery({
    queryKey: ['home', id, JSON.stringify(query), round],
    queryFn: ({ signal }) =>
      runQueued(async () => {
        signal.throwIfAborted();
        return call<QueryResponse<Results>>(
          createQueryCall(id, query, round > 0 ? 'force_blocking' : undefined),
          signal,
        );
      }),
    placeholderData: (before) => before,
    staleTime: 60_000,
  });
}

export function useActivePersonCount() {
  const { id } = useProject();
  const query = {
    kind: 'TrendsQuery',
    dateRange: { date_from: '-5M' },
    series: [{ kind: 'EventsNode', event: null, math: 'dau' }],
    trendsFilter: { display: 'BoldNumber' },
  };
  return useQuery({
    queryKey: ['home-online', id],
    queryFn: ({ signal }) =>
      runQueued(() =>
        call<QueryResponse<{ aggregated_value: number }[]>>(createQueryCall(id, query, 'force_blocking'), signal),
      ),
    refetchInterval: 30_000,
    retry: false,
    select: ({ results }) => results[0]?.aggregated_value ?? 0,
  });
}
