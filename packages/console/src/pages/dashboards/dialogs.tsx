import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useChange } from '../../answers/change.ts';
import { nameOfInsight } from '../../answers/question.ts';
import { type ApiCall, call } from '../../api/request.ts';
import { FilterList } from '../../filters/filter-list.tsx';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCallButton, Dialog } from '../../parts/dialog.tsx';
import { Field, FormProblem } from '../../parts/form.tsx';
import { RequestDialog } from '../../parts/request-dialog.tsx';
import { explain, Loaded } from '../../parts/states.tsx';
import type { Dashboard, DashboardFilters, TileInsight } from './shapes.ts';
import { text } from './words.ts';

export function MakeDialog({ onMade, onClose }: { onMade: (id: number) => void; onClose: () => void }) {
  const { id } = useProject();
  const [name, setName] = useState('');
  const change = useChange<Dashboard>((made) => onMade(made.id));
  return (
    <RequestDialog
      title={text.makeTitle}
      submit={text.makeDo}
      request={{ method: 'POST', path: `/api/projects/${id}/dashboards`, body: { name } }}
      change={change}
      fields={['name']}
      isComplete={name.trim() !== ''}
      onClose={onClose}
    >
      <Field
        name="name"
        label={text.name}
        maxLength={400}
        value={name}
        problem={change.error}
        autoFocus
        onChange={({ target }) => setName(target.value)}
      />
    </RequestDialog>
  );
}

/** @param dashboard on which a saved insight is to stand */
export function AddInsightDialog({ dashboard, onClose }: { dashboard: Dashboard; onClose: () => void }) {
  const { id } = useProject();
  const [chosen, setChosen] = useState('');
  const query = useQuery({
    queryKey: ['insights', id, 'choices'],
    queryFn: ({ signal }) =>
      call<{ results: TileInsight[] }>(
        {
          path: `/api/projects/${id}/insights`,
          query: { basic: true, saved: true, order: '-last_modified_at', limit: 200 },
        },
        signal,
      ),
  });
  const change = useChange(onClose);
  const free = query.data?.results.filter(({ dashboards }) => !dashboards.includes(dashboard.id)) ?? [];
  const insight = free.find(({ short_id: shortId }) => shortId === chosen) ?? free[0];
  if (insight === undefined) {
    return (
      <Dialog title={text.addInsightTitle} onClose={onClose}>
        <Loaded query={query} what={text.chooseInsight}>
          {() => <p className="quiet">{text.noInsight}</p>}
        </Loaded>
      </Dialog>
    );
  }
  const body = { dashboards: [...insight.dashboards, dashboard.id] };
  return (
    <RequestDialog
      title={text.addInsightTitle}
      submit={text.add}
      request={{ method: 'PATCH', path: `/api/projects/${id}/insights/${insight.id}`, body }}
      change={change}
      onClose={onClose}
    >
      <label className="field">
        <span className="field-label">{text.chooseInsight}</span>
        <select className="input" value={insight.short_id} onChange={({ target }) => setChosen(target.value)}>
          {free.map((one) => (
            <option key={one.short_id} value={one.short_id}>
              {nameOfInsight(one)}
            </option>
          ))}
        </select>
      </label>
    </RequestDialog>
  );
}

export function AddTextDialog({ path, onClose }: { path: string; onClose: () => void }) {
  const [body, setBody] = useState('');
  return (
    <RequestDialog
      title={text.textTitle}
      submit={text.add}
      request={{ method: 'PATCH', path, body: { tiles: [{ text: { body } }] } }}
      change={useChange(onClose)}
      isComplete={body.trim() !== ''}
      onClose={onClose}
    >
      <label className="field">
        <span className="field-label">{text.textLabel}</span>
        <textarea
          className="input"
          rows={4}
          maxLength={4000}
          value={body}
          onChange={({ target }) => setBody(target.value)}
        />
      </label>
    </RequestDialog>
  );
}

/** Conditions of all insights: for who looks, or kept for everybody with the time that is chosen. */
export function FiltersDialog({
  path,
  kept,
  time,
  shown,
  onShow,
  onKept,
  onClose,
}: {
  path: string;
  kept: DashboardFilters;
  time: string;
  shown: readonly unknown[];
  /** Null: those that are kept. */
  onShow: (filters: readonly unknown[] | null) => void;
  onKept: () => void;
  onClose: () => void;
}) {
  const [filters, setFilters] = useState(shown);
  const keep = useChange(onKept);
  const request: ApiCall = {
    method: 'PATCH',
    path,
    body: {
      filters: { ...kept, properties: filters, ...(time !== '' && { date_from: time, date_to: null }) },
    },
  };
  return (
    <Dialog title={text.filtersTitle} onClose={onClose}>
      <p className="quiet">{text.filtersText}</p>
      <div className="form">
        <FilterList filters={filters} onFilters={(next) => setFilters(next ?? [])} />
      </div>
      <FormProblem problem={keep.error} fields={[]} />
      {time !== '' && <p className="hint">{text.keepText}</p>}
      <div className="form-buttons">
        <Button look="main" onPress={() => onShow(filters)}>
          {text.show}
        </Button>
        <Button isDisabled={keep.isPending} onPress={() => keep.mutate(request)}>
          {text.keep}
        </Button>
        <AsApiCallButton request={request} />
        <Button onPress={() => onShow(null)}>{text.asStored}</Button>
      </div>
    </Dialog>
  );
}

export function EditDialog({
  dashboard,
  path,
  onRemoved,
  onClose,
}: {
  dashboard: Dashboard;
  path: string;
  onRemoved: () => void;
  onClose: () => void;
}) {
  const [name, setName] = useState(dashboard.name ?? '');
  const [description, setDescription] = useState(dashboard.description);
  const change = useChange(onClose);
  const remove = useChange(onRemoved);
  return (
    <RequestDialog
      title={text.editTitle}
      submit={text.save}
      request={{ method: 'PATCH', path, body: { name, description } }}
      change={change}
      fields={['name', 'description']}
      isComplete={name.trim() !== ''}
      below={
        <>
          <p className="hint">{text.removeText}</p>
          {remove.error && (
            <p className="bad" role="alert">
              {explain(remove.error)}
            </p>
          )}
          <div className="form-buttons">
            <Button
              look="danger"
              isDisabled={remove.isPending}
              onPress={() => remove.mutate({ method: 'PATCH', path, body: { deleted: true } })}
            >
              {text.remove}
            </Button>
          </div>
        </>
      }
      onClose={onClose}
    >
      <Field
        name="name"
        label={text.name}
        maxLength={400}
        value={name}
        problem={change.error}
        onChange={({ target }) => setName(target.value)}
      />
      <Field
        name="description"
        label={text.description}
        maxLength={1000}
        required={false}
        value={description}
        problem={change.error}
        onChange={({ target }) => setDescription(target.value)}
      />
    </RequestDialog>
  );
}
