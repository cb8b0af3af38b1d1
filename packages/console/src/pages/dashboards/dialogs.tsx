import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queryClient } from '../../api/queries.ts';
import { type ApiCall, call } from '../../api/request.ts';
import { visible } from '../../event-detail/json-text.ts';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCallButton, Dialog } from '../../parts/dialog.tsx';
import { Field, FormProblem } from '../../parts/form.tsx';
import { Loaded } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import type { Dashboard, TileInsight } from './shapes.ts';
import { text } from './words.ts';

/** Sends a change of a dashboard; what is shown of it is asked for again. */
function useChange(onDone: () => void) {
  const { id } = useProject();
  return useMutation({
    mutationFn: (request: ApiCall) => call<unknown>(request),
    onSuccess: async () => {
      onDone();
      // An insight says on which dashboards it is.
      await Promise.all(
        ['dashboards', 'insights'].map((name) => queryClient.invalidateQueries({ queryKey: [name, id] })),
      );
    },
  });
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
  return (
    <Dialog title={text.addInsightTitle} onClose={onClose}>
      <Loaded query={query} what={text.chooseInsight}>
        {({ results }) => {
          const free = results.filter(({ dashboards }) => !dashboards.includes(dashboard.id));
          const insight = free.find(({ short_id: shortId }) => shortId === chosen) ?? free[0];
          if (insight === undefined) return <p className="quiet">{text.noInsight}</p>;
          const request: ApiCall = {
            method: 'PATCH',
            path: `/api/projects/${id}/insights/${insight.id}`,
            body: { dashboards: [...insight.dashboards, dashboard.id] },
          };
          return (
            <form
              className="form"
              onSubmit={(event) => {
                event.preventDefault();
                change.mutate(request);
              }}
            >
              <label className="field">
                <span className="field-label">{text.chooseInsight}</span>
                <select className="input" value={insight.short_id} onChange={({ target }) => setChosen(target.value)}>
                  {free.map(({ short_id: shortId, name, derived_name: derived }) => (
                    <option key={shortId} value={shortId}>
                      {visible(name || derived || text.unnamed)}
                    </option>
                  ))}
                </select>
              </label>
              <FormProblem problem={change.error} fields={[]} />
              <div className="form-buttons">
                <Button type="submit" look="main" isDisabled={change.isPending}>
                  {text.add}
                </Button>
                <AsApiCallButton request={request} />
                <Button onPress={onClose}>{words.cancel}</Button>
              </div>
            </form>
          );
        }}
      </Loaded>
    </Dialog>
  );
}

export function AddTextDialog({ path, onClose }: { path: string; onClose: () => void }) {
  const [body, setBody] = useState('');
  const change = useChange(onClose);
  const request: ApiCall = { method: 'PATCH', path, body: { tiles: [{ text: { body } }] } };
  return (
    <Dialog title={text.textTitle} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate(request);
        }}
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
        <FormProblem problem={change.error} fields={[]} />
        <div className="form-buttons">
          <Button type="submit" look="main" isDisabled={body.trim() === '' || change.isPending}>
            {text.add}
          </Button>
          <AsApiCallButton request={request} />
          <Button onPress={onClose}>{words.cancel}</Button>
        </div>
      </form>
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
  const request: ApiCall = { method: 'PATCH', path, body: { name, description } };
  return (
    <Dialog title={text.editTitle} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate(request);
        }}
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
        <FormProblem problem={change.error ?? remove.error} fields={['name', 'description']} />
        <div className="form-buttons">
          <Button type="submit" look="main" isDisabled={name.trim() === '' || change.isPending}>
            {text.save}
          </Button>
          <AsApiCallButton request={request} />
          <Button onPress={onClose}>{words.cancel}</Button>
        </div>
        <p className="hint">{text.removeText}</p>
        <div className="form-buttons">
          <Button
            look="danger"
            isDisabled={remove.isPending}
            onPress={() => remove.mutate({ method: 'PATCH', path, body: { deleted: true } })}
          >
            {text.remove}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
