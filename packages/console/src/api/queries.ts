import { MutationCache, QueryCache, QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { ApiProblem, call } from './request.ts';

/** Whether an answer said that nobody is signed in any more; a dialog offers to sign in again, and what was typed stays. */
export const sessionEnd = createFlag();

const noteEnd = (error: unknown) => {
  const isKnown = queryClient.getQueryData(meQuery.queryKey) !== undefined;
  if (error instanceof ApiProblem && error.status === 401 && isKnown) sessionEnd.set(true);
};

/** Waits as the server asks for when it is too much, twice a little when something is down, not at all when it would not help. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteEnd }),
  mutationCache: new MutationCache({ onError: noteEnd }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      refetchOnWindowFocus: false,
      networkMode: 'always',
      retry: (failures, error) => {
        if (!(error instanceof ApiProblem)) return false;
        if (error.status === 429) return failures < 10;
        return (error.status === 0 || error.status >= 500) && failures < 2;
      },
      retryDelay: (failures, error) => (error instanceof ApiProblem && error.retryAfterMs) || 500 * 2 ** failures,
    },
    mutations: { networkMode: 'always' },
  },
});

function createFlag() {
  let value = false;
  const watchers = new Set<() => void>();
  return {
    set(next: boolean) {
      value = next;
      for (const watcher of watchers) watcher();
    },
    use: () =>
      useSyncExternalStore(
        (watcher) => {
          watchers.add(watcher);
          return () => watchers.delete(watcher);
        },
        () => value,
      ),
  };
}

export interface Me {
  uuid: string;
  email: string;
  first_name: string;
  has_password: boolean;
  organization: OrganizationOfMe | null;
  organizations: { id: string; name: string; membership_level: number }[];
  team: { id: number } | null;
}

export interface OrganizationOfMe {
  id: string;
  name: string;
  /** 1 (member), 8 (administrator) or 15 (owner). */
  membership_level: number;
  /** Environments. A console's address has the id of one. */
  teams: { id: number; project_id: number; name: string; timezone: string }[];
  projects: { id: number; name: string }[];
}

/** What a page is about: an environment, and the project it belongs to. Mostly they share id and name. */
export interface Project {
  id: number;
  project_id: number;
  name: string;
  timezone: string;
  /** Public: with it SDKs send events. */
  api_token: string;
  organization: string;
  /** Of the caller in this project: 1 (member), 8 (administrator) or 15 (owner). */
  effective_membership_level: number | null;
  ingested_event: boolean;
  live_events_columns: string[] | null;
}

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => call<Me>({ path: '/api/users/@me' }, signal),
  staleTime: 60_000,
});

export const projectQuery = (id: string) =>
  queryOptions({
    queryKey: ['project', id],
    queryFn: ({ signal }) => call<Project>({ path: `/api/environments/${encodeURIComponent(id)}` }, signal),
    staleTime: 60_000,
  });

/** What is null is not known now; `sources` says why. */
export interface Health {
  checked_at: string;
  version: string;
  alarm: null | { lag_seconds: number; threshold_seconds: number; detail: string };
  visible_after_seconds: number | null;
  lanes: LaneHealth[] | null;
  per_minute: { stored: number | null; dropped: { reason: string; count: number }[] | null };
  dead_letters_waiting: number | null;
  services: { name: string; connections: number }[] | null;
  /** Whether SQL queries run with a database role of their own; null if not known. */
  sql_role: boolean | null;
  /** `ok`, or why it does not answer. */
  sources: Record<'log' | 'events' | 'warnings' | 'dead_letters' | 'services', string>;
}

export interface LaneHealth {
  lane: string;
  waiting: number;
  oldest_seconds: number | null;
  accepted_per_minute: number | null;
  read_at: string | null;
}

/** Asked for each ten seconds while the page is seen: one line on every page depends on it. */
export const useHealth = (projectId: number) =>
  useQuery({
    queryKey: ['health', projectId],
    queryFn: ({ signal }) => call<Health>({ path: `/api/projects/${projectId}/health` }, signal),
    refetchInterval: 10_000,
    retry: false,
  });
