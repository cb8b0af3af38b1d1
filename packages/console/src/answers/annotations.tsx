import { endOf, intervalText, timeOf } from '@millrace/contracts/chart';
import { useMutation, useQuery } from '@tanstack/react-query';
import { createContext, useContext, useState } from 'react';
import { queryClient } from '../api/queries.ts';
import { type ApiCall, call } from '../api/request.ts';
import { visible } from '../event-detail/json-text.ts';
import { useHasLevel, useProject } from '../frame/project.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/form.tsx';
import { RequestDialog } from '../parts/request-dialog.tsx';
import { explain } from '../parts/states.tsx';
import { formatMinute, fromLocal, localOf } from '../parts/time.ts';
import type { Plot } from './plot.ts';
import { fieldsOf, type Question } from './question.ts';
import { wallTime } from './retention-cells.ts';
import { text } from './words.ts';
import './annotations.css';

interface Annotation {
  id: number;
  content: string | null;
  date_marker: string | null;
  scope: 'dashboard_item' | 'dashboard' | 'project' | 'organization';
  /** ID of an insight. */
  dashboard_item: number | null;
  dashboard_id: number | null;
  created_by: { first_name: string; email: string } | null;
}

/** The stored insight and the dashboard that charts belong to. Charts without a place show no annotations. */
export const ChartPlace = createContext<{ insight?: number | undefined; dashboard?: number | undefined } | null>(null);

/** The annotations of one interval of a chart. */
interface Marker {
  at: number;
  annotations: Annotation[];
}

const filters = ['trendsFilter', 'funnelsFilter', 'lifecycleFilter'];
/** PostHog stores in the query whether annotations are shown. */
const hidesAnnotations = (question: Question) =>
  filters.some((name) => fieldsOf(question[name]).showAnnotations === false);

/** The annotations that a chart shows, from the earliest interval on. One request serves all charts of a page. */
function useMarkers({ days, interval }: Plot, question: Question): { markers: Marker[]; error: unknown } {
  const { id, timezone } = useProject();
  const place = useContext(ChartPlace);
  const isShown = place !== null && !hidesAnnotations(question);
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
  const starts = days.map(timeOf);
  for (const annotation of isShown ? (data?.results ?? []) : []) {
    const { scope, date_marker: date, dashboard_item: insight, dashboard_id: dashboard } = annotation;
    if (date === null || (scope === 'dashboard_item' && insight !== place?.insight)) continue;
    if (scope === 'dashboard' && dashboard !== place?.dashboard) continue;
    const time = wallTime(new Date(date), timezone);
    const at = starts.findLastIndex((start) => start <= time);
    if (at === -1 || endOf(starts[at] ?? 0, interval) <= time) continue;
    markers.set(at, [...(markers.get(at) ?? []), annotation]);
  }
  const inOrder = [...markers].sort(([one], [other]) => one - other);
  return { markers: inOrder.map(([at, annotations]) => ({ at, annotations })), error: isShown ? error : null };
}

const contentOf = ({ content }: Annotation) => visible(content || text.emptyAnnotation);

/** Markers at the bottom of a chart. Each shows its annotations under the pointer or with the focus, and opens them. */
export function Annotations({ plot, question }: { plot: Plot; question: Question }) {
  const { markers, error } = useMarkers(plot, question);
  const [shown, setShown] = useState<number | null>(null);
  const [opened, setOpened] = useState<number | null>(null);
  const open = markers.find(({ at }) => at === opened);
  if (error) {
    return (
      <p className="chart-annotations-failed bad" role="alert">
        {text.annotationsFailed} {explain(error)}
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
              aria-label={`${dateOf(plot, at)}: ${annotations.map(contentOf).join('; ')}`}
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
                  <p key={annotation.id}>{contentOf(annotation)}</p>
                ))}
              </div>
            )}
          </li>
        ))}
      </ul>
      {open && (
        <AnnotationsDialog
          title={text.annotationsOf(dateOf(plot, open.at))}
          annotations={open.annotations}
          onClose={() => setOpened(null)}
        />
      )}
    </>
  );
}

const dateOf = ({ days, interval }: Plot, at: number) => intervalText(days[at] ?? '', interval);

/** Opens the form of a new annotation, with the current time. */
export function AnnotateButton() {
  const [isOpen, setOpen] = useState(false);
  if (!useHasLevel(1)) return null;
  return (
    <>
      <Button onPress={() => setOpen(true)}>{text.annotate}</Button>
      {isOpen && <AnnotationsDialog title={text.newAnnotation} annotations={[]} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Creates an annotation, at the time of those that are shown. */
function AnnotationsDialog({
  title,
  annotations,
  onClose,
}: {
  title: string;
  annotations: readonly Annotation[];
  onClose: () => void;
}) {
  const { id, timezone } = useProject();
  const place = useContext(ChartPlace);
  const start = new Date(annotations[0]?.date_marker ?? Date.now());
  const [content, setContent] = useState('');
  const [time, setTime] = useState(() => localOf(start, timezone).slice(0, 16));
  const [scope, setScope] = useState<Annotation['scope']>('project');
  const create = useAnnotationChange(onClose);
  const scopes = (['project', 'dashboard', 'dashboard_item'] as const).filter(
    (one) => one === 'project' || place?.[one === 'dashboard' ? 'dashboard' : 'insight'] !== undefined,
  );
  const body = {
    ...{ content, scope, date_marker: fromLocal(time, timezone) },
    ...(scope === 'dashboard_item' && { dashboard_item: place?.insight }),
    ...(scope === 'dashboard' && { dashboard_id: place?.dashboard }),
  };
  return (
    <RequestDialog
      title={title}
      submit={text.addAnnotation}
      request={{ method: 'POST', path: `/api/projects/${id}/annotations`, body }}
      change={create}
      fields={['content', 'date_marker']}
      isComplete={content.trim() !== '' && body.date_marker !== ''}
      onClose={onClose}
    >
      {annotations.length > 0 && (
        <ul className="annotation-list">
          {annotations.map((annotation) => (
            <StoredAnnotation key={annotation.id} annotation={annotation} onDone={onClose} />
          ))}
        </ul>
      )}
      <Field
        name="content"
        label={text.annotationText}
        hint={text.annotationHint}
        maxLength={8192}
        value={content}
        problem={create.error}
        onChange={({ target }) => setContent(target.value)}
      />
      <Field
        name="date_marker"
        type="datetime-local"
        label={text.annotationTime(timezone)}
        value={time}
        problem={create.error}
        onChange={({ target }) => setTime(target.value)}
      />
      <label className="field">
        <span className="field-label">{text.annotationScope}</span>
        <select
          className="input"
          value={scope}
          onChange={({ target }) => setScope(target.value as Annotation['scope'])}
        >
          {scopes.map((one) => (
            <option key={one} value={one}>
              {text.annotationScopes[one]}
            </option>
          ))}
        </select>
      </label>
    </RequestDialog>
  );
}

function StoredAnnotation({ annotation, onDone }: { annotation: Annotation; onDone: () => void }) {
  const { id, timezone } = useProject();
  const remove = useAnnotationChange(onDone);
  const { date_marker: date, created_by: by, scope } = annotation;
  return (
    <li>
      <p>{contentOf(annotation)}</p>
      <p className="hint">
        {[
          date === null ? '' : formatMinute(date, timezone),
          text.annotationScopes[scope],
          by === null ? '' : visible(by.first_name || by.email),
        ]
          .filter((part) => part !== '')
          .join(' · ')}
      </p>
      {remove.error && (
        <p className="bad" role="alert">
          {explain(remove.error)}
        </p>
      )}
      <Button
        look="plain"
        isDisabled={remove.isPending}
        aria-label={text.deleteAnnotation(contentOf(annotation))}
        onPress={() =>
          remove.mutate({
            method: 'PATCH',
            path: `/api/projects/${id}/annotations/${annotation.id}`,
            body: { deleted: true },
          })
        }
      >
        {text.remove}
      </Button>
    </li>
  );
}

function useAnnotationChange(onDone: () => void) {
  const { id } = useProject();
  return useMutation({
    mutationFn: (request: ApiCall) => call(request),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['annotations', id] });
      onDone();
    },
  });
}
