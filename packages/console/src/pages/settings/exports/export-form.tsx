import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { queryClient } from '../../../api/queries.ts';
import { ApiProblem, call } from '../../../api/request.ts';
import { useProject } from '../../../frame/project.ts';
import { Button } from '../../../parts/button.tsx';
import { Field, FormProblem } from '../../../parts/form.tsx';
import { explainError } from '../../../parts/states.tsx';
import { fromLocalTime, toLocalTime } from '../../../parts/time.ts';
import { words } from '../../../words.ts';
import { SettingsBlock } from '../block.tsx';
import { RadioCards } from '../cards.tsx';
import { FilterListField } from '../filter-list-field.tsx';
import {
  type DestinationSetting,
  type DestinationType,
  destinationSettings,
  destinationTypes,
} from './destinations.ts';
import { type BatchExport, exportsKey, models, useExportsPath } from './export.ts';
import { readSchedule, ScheduleFields } from './schedule-fields.tsx';
import { text } from './words.ts';

const { form } = text;

/** A form for creating or editing a batch export. An empty secret field keeps the stored secret. */
export function ExportForm({
  before,
  type: chosen = 'S3',
  onDone,
  onClose,
}: {
  before: BatchExport | undefined;
  type?: DestinationType | undefined;
  onDone: (now: BatchExport) => unknown;
  onClose: () => void;
}) {
  const { id: projectId, timezone } = useProject();
  const path = useExportsPath();
  const [type, setType] = useState<DestinationType>(before?.destination.type ?? chosen);
  const [model, setModel] = useState(before?.model ?? 'events');
  const [interval, setInterval] = useState(before?.interval ?? 'hour');
  const [filters, setFilters] = useState<readonly unknown[]>(before?.filters ?? []);
  const [isEditingFilter, setEditingFilter] = useState(false);
  const hasFilters = model === 'events';
  const storedConfig = before?.destination.type === type ? before.destination.config : undefined;
  const save = useMutation({
    mutationFn: (body: object) =>
      call<BatchExport>(
        before ? { method: 'PATCH', path: `${path}/${before.id}`, body } : { method: 'POST', path, body },
      ),
    onSuccess: async (now) => {
      await queryClient.invalidateQueries({ queryKey: exportsKey(projectId) });
      await onDone(now);
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget);
    save.mutate({
      ...bodyOf(typed, { type, storedConfig, timezone }),
      ...readSchedule(typed, before),
      filters: hasFilters && filters.length > 0 ? filters : null,
    });
  };
  const fields = [
    'name',
    'start_at',
    'end_at',
    'timezone',
    ...(hasFilters ? ['filters'] : []),
    ...destinationSettings[type].map(({ name }) => name),
  ];
  const problem = atSetting(save.error, fields);
  return (
    <SettingsBlock title={before ? form.change(before.name) : text.newExport}>
      <form className="form settings-form export-form" onSubmit={submit}>
        <Field
          name="name"
          label={form.name}
          hint={form.nameHint}
          maxLength={400}
          defaultValue={before?.name}
          problem={problem}
        />
        <RadioCards
          name="model"
          legend={form.model}
          options={models.map((model) => ({ value: model, ...form.models[model] }))}
          chosen={model}
          onChoose={(chosen) => {
            setModel(chosen);
            setEditingFilter(false);
          }}
        />
        {hasFilters && (
          <FilterListField
            legend={form.filters}
            about={<FiltersHint problem={problem} />}
            filters={filters}
            isEditing={isEditingFilter}
            onFilters={setFilters}
            onEditing={setEditingFilter}
          />
        )}
        <ScheduleFields before={before} interval={interval} problem={problem} onInterval={setInterval} />
        <RadioCards
          name="type"
          legend={form.destination}
          options={destinationTypes.map((one) => ({ value: one, name: text.types[one], about: text.needs[one] }))}
          chosen={type}
          onChoose={setType}
        />
        <Settings key={type} type={type} storedConfig={storedConfig} problem={problem} />
        <Times before={before} problem={problem} />
        <FormProblem problem={problem} fields={fields} />
        <div className="form-buttons">
          <Button type="submit" look="main" isDisabled={save.isPending || isEditingFilter}>
            {before ? form.save : form.create}
          </Button>
          <Button onPress={onClose}>{words.cancel}</Button>
        </div>
      </form>
    </SettingsBlock>
  );
}

function FiltersHint({ problem }: { problem: unknown }) {
  if (!isAbout(problem, 'filters')) return <span className="hint">{form.filtersHint}</span>;
  return (
    <span className="bad" role="alert">
      {explainError(problem)}
    </span>
  );
}

function Settings({
  type,
  storedConfig,
  problem,
}: {
  type: DestinationType;
  storedConfig: Record<string, unknown> | undefined;
  problem: unknown;
}) {
  const all = destinationSettings[type];
  const show = (settings: readonly DestinationSetting[]) =>
    settings.map((setting) => (
      <Setting key={setting.name} setting={setting} storedConfig={storedConfig} problem={problem} />
    ));
  const rare = all.filter(({ isRare }) => isRare);
  const isUsed = rare.some(({ name }) => storedConfig?.[name] !== undefined || isAbout(problem, name));
  return (
    <>
      <div className="settings-pair">{show(all.filter(({ isRare }) => !isRare))}</div>
      <details className="export-settings" open={isUsed}>
        <summary>{form.rare}</summary>
        <div className="settings-pair">{show(rare)}</div>
      </details>
    </>
  );
}

function Setting({
  setting: { name, kind, isRequired },
  storedConfig,
  problem,
}: {
  setting: DestinationSetting;
  storedConfig: Record<string, unknown> | undefined;
  problem: unknown;
}) {
  const label = form.labels[name] ?? name;
  const hint = form.hints[name];
  const value = storedConfig?.[name];
  if (kind === 'check') {
    return (
      <div className="field">
        <label className="settings-choice">
          <input type="checkbox" name={name} defaultChecked={value === true} />
          {label}
        </label>
        <span className="hint">{hint}</span>
      </div>
    );
  }
  if (kind === 'lines') return <Lines name={name} label={label} hint={hint} lines={value} />;
  if (typeof kind === 'object') {
    return (
      <label className="field">
        <span className="field-label">{label}</span>
        <select className="input" name={name} defaultValue={String(value ?? '')}>
          <option value="">{form.noChoice}</option>
          {kind.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      </label>
    );
  }
  const isSecret = kind === 'secret';
  return (
    <Field
      name={name}
      label={label}
      hint={isSecret ? (storedConfig ? form.keptHint : form.secretHint) : hint}
      type={isSecret ? 'password' : kind}
      autoComplete={isSecret ? 'new-password' : 'off'}
      spellCheck={false}
      required={isRequired === true && !(isSecret && storedConfig)}
      defaultValue={isSecret ? undefined : String(value ?? '')}
      problem={problem}
    />
  );
}

function Lines({
  name,
  label,
  hint,
  lines,
}: {
  name: string;
  label: string;
  hint: string | undefined;
  lines: unknown;
}) {
  const id = useId();
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      <textarea
        id={id}
        className="input"
        name={name}
        rows={3}
        spellCheck={false}
        aria-describedby={`${id}-more`}
        defaultValue={Array.isArray(lines) ? lines.join('\n') : ''}
      />
      <span id={`${id}-more`} className="hint">
        {hint}
      </span>
    </div>
  );
}

function Times({ before, problem }: { before: BatchExport | undefined; problem: unknown }) {
  const { timezone } = useProject();
  const local = (time: string | null | undefined) => (time ? toLocalTime(new Date(time), timezone).slice(0, 16) : '');
  const shared = { type: 'datetime-local', required: false, problem };
  return (
    <div className="settings-pair">
      <Field
        {...shared}
        name="start_at"
        label={text.from}
        hint={form.fromHint}
        defaultValue={local(before?.start_at)}
      />
      <Field {...shared} name="end_at" label={text.until} hint={form.untilHint} defaultValue={local(before?.end_at)} />
    </div>
  );
}

/**
 * Returns the form's values in the API's format. An empty field clears its setting, but an empty secret field keeps the
 * stored secret.
 */
function bodyOf(
  typed: FormData,
  {
    type,
    storedConfig,
    timezone,
  }: { type: DestinationType; storedConfig: Record<string, unknown> | undefined; timezone: string },
) {
  const time = (name: string) => {
    const local = String(typed.get(name) ?? '');
    return local === '' ? null : fromLocalTime(local, timezone);
  };
  const config: Record<string, unknown> = {};
  for (const { name, kind } of destinationSettings[type]) {
    const value = typedValue(kind, String(typed.get(name) ?? ''));
    if (value !== null) config[name] = value;
    // The API requires a prefix. An empty prefix is valid, and puts files at the root of the bucket.
    else if (name === 'prefix') config[name] = '';
    else if (kind !== 'secret' && storedConfig?.[name] !== undefined) config[name] = null;
  }
  return {
    name: typed.get('name'),
    model: typed.get('model'),
    destination: { type, config },
    start_at: time('start_at'),
    end_at: time('end_at'),
  };
}

function typedValue(kind: DestinationSetting['kind'], typed: string): unknown {
  if (kind === 'check') return typed === 'on' ? true : null;
  if (kind === 'secret') return typed === '' ? null : typed;
  const text = typed.trim();
  if (text === '') return null;
  if (kind === 'number') return Number(text);
  if (kind !== 'lines') return text;
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

const isAbout = (problem: unknown, name: string) => problem instanceof ApiProblem && problem.attr === name;

/**
 * Assigns a destination error to the setting that the error message names. The form then shows the error next to the
 * setting's field.
 */
function atSetting(problem: unknown, fields: readonly string[]): unknown {
  if (!(problem instanceof ApiProblem) || problem.attr !== 'destination') return problem;
  const attr = [...problem.message.matchAll(/'(\w+)'/g)]
    .map(([, name]) => name)
    .find((name) => fields.includes(name ?? ''));
  if (attr === undefined) return problem;
  return new ApiProblem(problem.status, { code: problem.code, detail: problem.message, attr }, new Headers());
}
