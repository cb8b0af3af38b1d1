import { useMutation } from '@tanstack/react-query';
import { useContext, useState } from 'react';
import { queryClient } from '../api/queries.ts';
import { type ApiCall, call } from '../api/request.ts';
import { escapeInvisible } from '../event-detail/json-text.ts';
import { useProject } from '../frame/project.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/form.tsx';
import { RequestDialog } from '../parts/request-dialog.tsx';
import { explainError } from '../parts/states.tsx';
import { formatMinute, fromLocalTime, toLocalTime } from '../parts/time.ts';
import { type Annotation, ChartPlace, formatContent } from './annotation.ts';
import { text } from './words.ts';

/**
 * A dialog that lists and creates annotations. A new annotation is dated to the first listed annotation, or to the
 * current time if the list is empty.
 */
export function AnnotationsDialog({
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
  const [time, setTime] = useState(() => toLocalTime(start, timezone).slice(0, 16));
  const [scope, setScope] = useState<Annotation['scope']>('project');
  const create = useAnnotationChange(onClose);
  const scopes = (['project', 'dashboard', 'dashboard_item'] as const).filter(
    (one) => one === 'project' || place?.[one === 'dashboard' ? 'dashboard' : 'insight'] !== undefined,
  );
  const body = {
    content,
    scope,
    date_marker: fromLocalTime(time, timezone),
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
      <p>{formatContent(annotation)}</p>
      <p className="hint">
        {[
          date === null ? '' : formatMinute(date, timezone),
          text.annotationScopes[scope],
          by === null ? '' : escapeInvisible(by.first_name || by.email),
        ]
          .filter((part) => part !== '')
          .join(' · ')}
      </p>
      {remove.error && (
        <p className="bad" role="alert">
          {explainError(remove.error)}
        </p>
      )}
      <Button
        look="plain"
        isDisabled={remove.isPending}
        aria-label={text.deleteAnnotation(formatContent(annotation))}
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
