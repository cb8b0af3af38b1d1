// Markers at the bottom of a chart for annotations, which are notes about a point in time.

import { endOfInterval, formatInterval, parseSeriesTime } from '@millrace/contracts/chart';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useContext, useState } from 'react';
import { call } from '../api/request.ts';
import { loadPageCode } from '../frame/broken.tsx';
import { useHasLevel, useProject } from '../frame/project.ts';
import { Button } from '../parts/button.tsx';
import { explainError } from '../parts/states.tsx';
import { type Annotation, ChartPlace, formatContent } from './annotation.ts';
import { type InsightQuery, toFields } from './insight-query.ts';
import type { Plot } from './plot.ts';
import { toWallTime } from './retention-cells.ts';
import { text } from './words.ts';
import './annotations.css';

/** Loaded on demand, because most users do not edit annotations. */
const AnnotationsDialog = lazy(
  loadPageCode(() => import('./annotations-dialog.tsx').then((part) => ({ default: part.AnnotationsDialog }))),
);

interface Marker {
  at: number;
  annotations: Annotation[];
}

const filters = ['trendsFilter', 'funnelsFilter', 'lifecycleFilter'];
/** Returns whether the query hides annotations. PostHog's queries have the same setting. */
const hidesAnnotations = (insightQuery: InsightQuery) =>
  filters.some((name) => toFields(insightQuery[name]).showAnnotations === false);

/** Returns a chart's markers, sorted by time. A single request loads the annotations for all charts on the page. */
function useMarkers({ days, interval }: Plot, insightQuery: InsightQuery): { markers: Marker[]; error: unknown } {
  const { id, timezone } = useProject();
  const place = useContext(ChartPlace);
  const isShown = place !== null && !hidesAnnotations(insightQuery);
  const { data, error } = useQuery({
    queryKey: ['annotations', id],
    queryFn: ({ signal }) =>
      call<{ results: Annotation[] }>(
        { path: `/api/projects/${id}/annotations`, query: { hidden_in_user_interface: false } },
        signal,
      ),
    staleTime: 60_000,
    enabled: isShown,
  });
  const markers = new Map<number, Annotation[]>();
  const starts = days.map(parseSeriesTime);
  for (const annotation of isShown ? (data?.results ?? []) : []) {
    const { scope, date_marker: date, dashboard_item: insight, dashboard_id: dashboard } = annotation;
    if (date === null || (scope === 'dashboard_item' && insight !== place?.insight)) continue;
    if (scope === 'dashboard' && dashboard !== place?.dashboard) continue;
    const time = toWallTime(new Date(date), timezone);
    const at = starts.findLastIndex((start) => start <= time);
    if (at === -1 || endOfInterval(starts[at] ?? 0, interval) <= time) continue;
    markers.set(at, [...(markers.get(at) ?? []), annotation]);
  }
  const inOrder = [...markers].sort(([one], [other]) => one - other);
  return { markers: inOrder.map(([at, annotations]) => ({ at, annotations })), error: isShown ? error : null };
}

/**
 * Shows the markers of a chart. A marker shows its annotations on hover and focus, and opens them when it is clicked.
 */
export function Annotations({ plot, insightQuery }: { plot: Plot; insightQuery: InsightQuery }) {
  const { markers, error } = useMarkers(plot, insightQuery);
  const [shown, setShown] = useState<number | null>(null);
  const [opened, setOpened] = useState<number | null>(null);
  const open = markers.find(({ at }) => at === opened);
  if (error) {
    return (
      <p className="bad" role="alert">
        {text.annotationsFailed} {explainError(error)}
      </p>
    );
  }
  if (markers.length === 0) return null;
  return (
    <>
      <ul className="chart-annotations" aria-label={text.annotations}>
        {markers.map(({ at, annotations }) => (
          <li key={at} style={{ insetInlineStart: `${plot.x(at) * 100}%` }}>
            <button
              type="button"
              className="chart-annotation"
              aria-label={`${dateOf(plot, at)}: ${annotations.map(formatContent).join('; ')}`}
              onPointerEnter={() => setShown(at)}
              onPointerLeave={() => setShown(null)}
              onFocus={() => setShown(at)}
              onBlur={() => setShown(null)}
              onClick={() => setOpened(at)}
            >
              <span data-count={annotations.length} />
            </button>
            {shown === at && (
              <div className={plot.x(at) > 0.5 ? 'chart-note chart-note-left' : 'chart-note'} aria-hidden="true">
                <strong>{dateOf(plot, at)}</strong>
                {annotations.map((annotation) => (
                  <p key={annotation.id}>{formatContent(annotation)}</p>
                ))}
              </div>
            )}
          </li>
        ))}
      </ul>
      {open && (
        <Suspense>
          <AnnotationsDialog
            title={text.annotationsOf(dateOf(plot, open.at))}
            annotations={open.annotations}
            onClose={() => setOpened(null)}
          />
        </Suspense>
      )}
    </>
  );
}

const dateOf = ({ days, interval }: Plot, at: number) => formatInterval(days[at] ?? '', interval);

export function AnnotateButton() {
  const [isOpen, setOpen] = useState(false);
  if (!useHasLevel(1)) return null;
  return (
    <>
      <Button onPress={() => setOpen(true)}>{text.annotate}</Button>
      {isOpen && (
        <Suspense>
          <AnnotationsDialog title={text.newAnnotation} annotations={[]} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
