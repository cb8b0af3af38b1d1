// A project's start page, which shows website traffic or a dashboard, and a setup checklist.

import { useQueries } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { call } from '../../api/request.ts';
import { loadPageCode } from '../../frame/broken.tsx';
import { useProject } from '../../frame/project.ts';
import { QueryContent } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import { WebTraffic } from './web-traffic.tsx';
import { text } from './words.ts';
import './home.css';

/** Loaded on demand, because it contains the code for dashboards. */
const FavoriteDashboard = lazy(
  loadPageCode(() => import('./dashboard.tsx').then((part) => ({ default: part.FavoriteDashboard }))),
);

/**
 * Shows website traffic or, for a project without page and screen views, a dashboard. A project without events is
 * redirected to the Live page.
 */
export function Page() {
  const { id } = useProject();
  const known = useQueries({
    queries: ['', '$pageview', '$screen'].map((event) => ({
      queryKey: ['any-event', id, event],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const request = { path: `/api/projects/${id}/events`, query: { limit: 1, event } };
        return (await call<{ results: unknown[] }>(request, signal)).results.length > 0;
      },
      staleTime: 60_000,
    })),
    combine: (found) => ({
      data: found.every(({ data }) => data !== undefined) ? found.map(({ data }) => data === true) : undefined,
      error: found.find(({ error }) => error !== null)?.error ?? null,
      failureReason: found.find(({ failureReason }) => failureReason !== null)?.failureReason ?? null,
      refetch: () => found.map(({ refetch }) => refetch()),
    }),
  });
  return (
    <QueryContent query={known} what={text.what}>
      {([hasEvents, hasViews, hasScreens]) => {
        if (!hasEvents) return <Navigate to={`/projects/${id}/live`} replace />;
        if (hasViews || hasScreens) return <WebTraffic />;
        return (
          <Suspense fallback={<p className="waiting">{words.states.loading}</p>}>
            <FavoriteDashboard />
          </Suspense>
        );
      }}
    </QueryContent>
  );
}
