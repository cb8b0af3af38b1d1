import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { queryClient } from '../../api/queries.ts';
import { type ApiCall, call } from '../../api/request.ts';
import { NamePicker } from '../../filters/name-picker.tsx';
import { useProject } from '../../frame/project.ts';
import { Field } from '../../parts/form.tsx';
import { RequestDialog } from '../../parts/request-dialog.tsx';
import { columns, type Dashboard, type Size } from './shapes.ts';
import { type Template, type TemplateField, type TemplateName, templates } from './templates.ts';
import { text } from './words.ts';

const names = ['', ...Object.keys(templates)] as ('' | TemplateName)[];

/** A dialog that creates an empty dashboard or one from a template. */
export function CreateDialog({ onMade, onClose }: { onMade: (id: number) => void; onClose: () => void }) {
  const { id } = useProject();
  const base = `/api/projects/${id}`;
  const [chosen, setChosen] = useState<'' | TemplateName>('');
  const [typed, setTyped] = useState('');
  const [values, setValues] = useState<Record<string, string>>({});
  const template: Template | null = chosen === '' ? null : templates[chosen];
  const fields = Object.entries(template?.fields ?? {});
  const nameFor = (field: string) => values[field] ?? template?.fields[field]?.usual ?? '';
  const name = typed || (chosen === '' ? '' : text.template.names[chosen]);
  const request: ApiCall = { method: 'POST', path: `${base}/dashboards`, body: { name } };
  const make = useMutation({
    mutationFn: async () => {
      const created = await call<Dashboard>(request);
      try {
        if (template) await fill(base, created, template.tiles(nameFor));
      } catch (error) {
        await call({
          method: 'PATCH',
          path: `${base}/dashboards/${created.id}`,
          body: { deleted: true, delete_insights: true },
        });
        throw error;
      }
      return created.id;
    },
    onSuccess: onMade,
    onSettled: () =>
      Promise.all(['dashboards', 'insights'].map((one) => queryClient.invalidateQueries({ queryKey: [one, id] }))),
  });
  return (
    <RequestDialog
      title={text.makeTitle}
      submit={text.makeDo}
      request={request}
      change={{ mutate: () => make.mutate(), error: make.error, isPending: make.isPending }}
      fields={['name']}
      isComplete={name.trim() !== '' && fields.every(([field]) => nameFor(field) !== '')}
      onClose={onClose}
    >
      <Field
        name="name"
        label={text.name}
        maxLength={400}
        value={name}
        problem={make.error}
        autoFocus
        onChange={({ target }) => setTyped(target.value)}
      />
      <fieldset className="board-choices">
        <legend className="field-label">{text.template.label}</legend>
        {names.map((one) => (
          <label key={one} className="board-choice">
            <input type="radio" name="template" checked={one === chosen} onChange={() => setChosen(one)} />
            <span>
              {one === '' ? text.template.none : text.template.names[one]}{' '}
              {one !== '' && <span className="hint">{text.template.about[one]}</span>}
            </span>
          </label>
        ))}
      </fieldset>
      {fields.map(([field, one]) => (
        <TemplateInput
          key={`${chosen} ${field}`}
          field={one}
          value={nameFor(field)}
          onValue={(value) => setValues({ ...values, [field]: value })}
        />
      ))}
    </RequestDialog>
  );
}

function TemplateInput({
  field: { label, of },
  value,
  onValue,
}: {
  field: TemplateField;
  value: string;
  onValue: (value: string) => void;
}) {
  return (
    <div className="field">
      <span className="field-label" aria-hidden="true">
        {label}
      </span>
      {of === 'flag' ? (
        <input
          className="input mono"
          aria-label={label}
          value={value}
          onChange={({ target }) => onValue(target.value)}
        />
      ) : (
        <NamePicker label={label} hint={label} of={of} value={value} isLive onName={onValue} />
      )}
    </div>
  );
}

async function fill(base: string, { id }: Dashboard, tiles: ReturnType<Template['tiles']>): Promise<void> {
  const sizes = new Map<number, Size>();
  for (const { name, source, size } of tiles) {
    const body = { name, saved: true, query: { kind: 'InsightVizNode', source }, dashboards: [id] };
    const insight = await call<{ id: number }>({ method: 'POST', path: `${base}/insights`, body });
    sizes.set(insight.id, size);
  }
  const { tiles: created } = await call<Dashboard>({ path: `${base}/dashboards/${id}` });
  const place = { x: 0, y: 0, height: 0 };
  const layouts = (created ?? []).map(({ id: tile, insight }) => {
    const { w, h } = sizes.get(insight?.id ?? 0) ?? { w: 6, h: 5 };
    if (place.x + w > columns) Object.assign(place, { x: 0, y: place.y + place.height, height: 0 });
    const layout = { id: tile, layouts: { sm: { x: place.x, y: place.y, w, h } } };
    Object.assign(place, { x: place.x + w, height: Math.max(place.height, h) });
    return layout;
  });
  await call({ method: 'PATCH', path: `${base}/dashboards/${id}`, body: { tiles: layouts } });
}
