// The form control for one project setting: a switch, a text field, a list or checkboxes.

import { useId } from 'react';
import { ApiProblem } from '../../../api/request.ts';
import { useHasLevelInOrganization } from '../../../frame/project.ts';
import { SuggestionList } from '../../../frame/suggestions.tsx';
import { explainError } from '../../../parts/states.tsx';
import { zones } from '../../../parts/time.ts';
import { FilterListField } from '../filter-list-field.tsx';
import { useSubjectOptions } from '../offered.ts';
import { effects } from './effects/words.ts';
import { text } from './words.ts';

type SettingName = keyof typeof effects & keyof typeof text.labels;

export type Control = { name: SettingName } & (
  | {
      kind: 'switch';
      /** The value that is stored when the switch is on. When it is off, `off` is stored. */
      on: unknown;
      off: unknown;
      /** The value that the switch shows if null is stored. The default is `off`. */
      absent?: unknown;
      /** Whether only administrators of the organization can change the setting. */
      isOfOrganization?: boolean;
    }
  | { kind: 'zone' | 'address' }
  | { kind: 'weekday' }
  | { kind: 'filters' }
  | { kind: 'dashboard' }
  | {
      kind: 'choices';
      choices: readonly string[];
      /** Name of the switch that must be on for this setting to be shown. */
      needs: SettingName;
    }
);

interface ControlProps<Kind extends Control = Control> {
  control: Kind;
  value: unknown;
  problem: unknown;
  onChange: (value: unknown) => void;
  isEditingFilter: boolean;
  onEditingFilter: (isEditing: boolean) => void;
}
type OfKind<Kind extends Control['kind']> = ControlProps<Extract<Control, { kind: Kind }>>;
type SelectProps<Kind extends Control['kind']> = Pick<
  ControlProps<Extract<Control, { kind: Kind }>>,
  'control' | 'value' | 'problem' | 'onChange'
>;

export function SettingControl({ control, ...props }: ControlProps) {
  if (control.kind === 'switch') return <Switch control={control} {...props} />;
  if (control.kind === 'choices') return <Several control={control} {...props} />;
  if (control.kind === 'weekday') return <Weekday control={control} {...props} />;
  if (control.kind === 'filters') return <Filters control={control} {...props} />;
  if (control.kind === 'dashboard') return <Dashboard control={control} {...props} />;
  return <Line control={control} {...props} />;
}

function Switch({ control, value, problem, onChange }: OfKind<'switch'>) {
  const { name, on, off, absent = off, isOfOrganization } = control;
  const isAdministrator = useHasLevelInOrganization(8);
  const isRefused = isOfOrganization === true && !isAdministrator;
  const id = useId();
  return (
    <div className="settings-switch">
      <input
        type="checkbox"
        id={id}
        aria-describedby={`${id}-more`}
        checked={(value ?? absent) === on}
        disabled={isRefused}
        onChange={(event) => onChange(event.target.checked ? on : off)}
      />
      <div>
        <label className="field-label" htmlFor={id}>
          {text.labels[name]}
        </label>
        <About id={`${id}-more`} name={name} problem={problem} />
        {isRefused && <p className="hint">{text.needsOrganization}</p>}
      </div>
    </div>
  );
}

/** A single-line text field. An empty input is stored as null, unless the setting requires a value. */
function Line({ control: { name, kind }, value, problem, onChange }: OfKind<'zone' | 'address'>) {
  const id = useId();
  const isZone = kind === 'zone';
  return (
    <div className="field settings-line">
      <label className="field-label" htmlFor={id}>
        {text.labels[name]}
      </label>
      <input
        id={id}
        className={isZone ? 'input' : 'input mono'}
        aria-describedby={`${id}-more`}
        aria-invalid={isAbout(problem, name)}
        autoComplete="off"
        spellCheck={false}
        maxLength={500}
        {...(isZone && { list: `${id}-zones`, required: true })}
        value={typeof value === 'string' ? value : ''}
        onChange={({ target }) => onChange(target.value === '' && !isZone ? null : target.value)}
      />
      {isZone && <SuggestionList id={`${id}-zones`} names={zones} />}
      <About id={`${id}-more`} name={name} problem={problem} />
    </div>
  );
}

/** Checkboxes. If all of them are selected, null is stored, so that choices added in the future are included. */
function Several({ control: { name, choices }, value, problem, onChange }: OfKind<'choices'>) {
  const id = useId();
  const chosen = Array.isArray(value) ? choices.filter((one) => value.includes(one)) : choices;
  const choose = (one: string, isChosen: boolean) => {
    const next = choices.filter((other) => (other === one ? isChosen : chosen.includes(other)));
    onChange(next.length === choices.length ? null : next);
  };
  return (
    <fieldset className="settings-fieldset settings-below" aria-describedby={`${id}-more`}>
      <legend className="field-label">{text.labels[name]}</legend>
      <div className="settings-choices">
        {choices.map((one) => (
          <label key={one} className="settings-choice">
            <input
              type="checkbox"
              checked={chosen.includes(one)}
              onChange={(event) => choose(one, event.target.checked)}
            />
            {one}
          </label>
        ))}
      </div>
      <About id={`${id}-more`} name={name} problem={problem} />
    </fieldset>
  );
}

const sunday = 0;
const weekdays = [1, 2, 3, 4, 5, 6, sunday];

const Weekday = ({ value, ...props }: SelectProps<'weekday'>) => (
  <Selection
    {...props}
    value={String(value ?? sunday)}
    options={weekdays.map((day) => ({ value: String(day), name: text.weekday(day) }))}
    onChange={(chosen) => props.onChange(Number(chosen))}
  />
);

function Dashboard({ value, ...props }: SelectProps<'dashboard'>) {
  const { data = [], error } = useSubjectOptions('dashboards');
  const isOffered = value === null || data.some(({ id }) => id === value);
  const options = [
    { value: '', name: text.noDashboard },
    ...(isOffered ? [] : [{ value: String(value), name: text.dashboard(Number(value)) }]),
    ...data.map(({ id, name }) => ({ value: String(id), name })),
  ];
  return (
    <>
      <Selection
        {...props}
        value={value === null ? '' : String(value)}
        options={options}
        onChange={(chosen) => props.onChange(chosen === '' ? null : Number(chosen))}
      />
      {error && (
        <p className="bad" role="alert">
          {text.notOffered(explainError(error))}
        </p>
      )}
    </>
  );
}

function Selection({
  control: { name },
  value,
  options,
  problem,
  onChange,
}: Pick<ControlProps, 'control' | 'problem'> & {
  value: string;
  options: readonly { value: string; name: string }[];
  onChange: (chosen: string) => void;
}) {
  const id = useId();
  return (
    <div className="field settings-line">
      <label className="field-label" htmlFor={id}>
        {text.labels[name]}
      </label>
      <select
        id={id}
        className="input"
        aria-describedby={`${id}-more`}
        aria-invalid={isAbout(problem, name)}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.name}
          </option>
        ))}
      </select>
      <About id={`${id}-more`} name={name} problem={problem} />
    </div>
  );
}

function Filters({ control: { name }, value, problem, onChange, isEditingFilter, onEditingFilter }: OfKind<'filters'>) {
  const id = useId();
  return (
    <FilterListField
      legend={text.labels[name]}
      about={<About id={id} name={name} problem={problem} />}
      filters={value}
      isEditing={isEditingFilter}
      onFilters={onChange}
      onEditing={onEditingFilter}
    />
  );
}

const isAbout = (problem: unknown, name: string) => problem instanceof ApiProblem && problem.attr === name;

function About({ id, name, problem }: { id: string; name: SettingName; problem: unknown }) {
  if (isAbout(problem, name)) {
    return (
      <p id={id} className="bad" role="alert">
        {explainError(problem)}
      </p>
    );
  }
  return (
    <p id={id} className="quiet">
      <TextWithCode words={effects[name].effect} />
    </p>
  );
}

/** Formats words between backticks as code. */
export function TextWithCode({ words }: { words: string }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change order
  return words.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part));
}
