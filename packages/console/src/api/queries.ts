// Queries that all pages share (user, project, health), and the retry rules for failed requests.

import { MutationCache, QueryCache, QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { ApiProblem, call } from './request.ts';

/**
 * True after the API has reported that the session has ended. A dialog then asks the user to sign in again, so that
 * unsaved input is kept.
 */
export const sessionEnd = createFlag();

const noteEnd = (error: unknown) => {
  const isKnown = queryClient.getQueryData(meQuery.queryKey) !== undefined;
  if (error instanceof ApiProblem && error.status === 401 && isKnown) sessionEnd.set(true);
};

/**
 * Defines the retry rules for failed requests. A rate-limited request is repeated when the server allows it. A request
 * to an unavailable service is repeated twice after a short delay. All other failed requests are not repeated.
 */
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
  /** The user's membership level: 1 (member), 8 (administrator) or 15 (owner). */
  membership_level: number;
  /** The project's environments. The console's URLs contain an environment ID. */
  teams: { id: number; project_id: number; name: string; timezone: string }[];
  projects: { id: number; name: string }[];
}

/** The environment that a page shows, and its project. In most projects, both have the same ID and name. */
export interface Project {
  id: number;
  project_id: number;
  name: string;
  timezone: string;
  /** The project's public API key, which SDKs use to send events. */
  api_token: string;
  organization: string;
  /** The user's membership level in this project: 1 (member), 8 (administrator) or 15 (owner). */
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

/** The status of the installation. If a value is unknown, it is null, and `sources` contains the reason. */
export interface Health {
  checked_at: string;
  version: string;
  alarm: null | { lag_seconds: number; threshold_seconds: number; detail: string };
  visible_after_seconds: number | null;
  topics: TopicHealth[] | null;
  per_minute: { stored: number | null; dropped: { reason: string; count: number }[] | null };
  dead_letters_waiting: number | null;
  services: { name: string; connections: number }[] | null;
  /** Whether SQL queries run with a separate database role. Null if this cannot be determined. */
  sql_role: boolean | null;
  /**
   * Age of ClickHouse's copies of events and persons, which queries read. Null if the installation does not use
   * ClickHouse.
   */
  clickhouse: { events_age_seconds: number | null; persons_age_seconds: number | null } | null;
  /** For each source, `ok` or the reason why the source is unavailable. */
  sources: Record<'log' | 'events' | 'warnings' | 'dead_letters' | 'services', string>;
}

export interface TopicHealth {
  topic: string;
  waiting: number;
  oldest_seconds: number | null;
  accepted_per_minute: number | null;
  read_at: string | null;
}

/** Reloads the health data every ten seconds while the page is visible, because every page shows a health line. */
export const useHealth = (projectId: number) =>
  useQuery({
    queryKey: ['health', projectId],
    queryFn: ({ signal }) => call<Health>({ path: `/api/projects/${projectId}/health` }, signal),
    refetchInterval: 10_000,
    retry: false,
  });
