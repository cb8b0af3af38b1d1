import { useId, useState } from 'react';
import type { ApiCall } from '../../../api/request.ts';
import { ApiProblem } from '../../../api/request.ts';
import { useHasLevelInOrganization, useProject } from '../../../frame/project.ts';
import { Choices } from '../../../frame/suggestions.tsx';
import { Button } from '../../../parts/button.tsx';
import { FormProblem } from '../../../parts/form.tsx';
import { explain } from '../../../parts/states.tsx';
import { zones } from '../../../parts/time.ts';
import { Block, Done } from '../block.tsx';
import { type Environment, useChange, useEnvironmentPath } from '../environment.ts';
import { text as shared } from '../words.ts';
import { effects } from './effects/words.ts';
import { text } from './words.ts';

type SettingName = keyof typeof effects & keyof typeof text.labels;

/** How a setting is changed. */
export type Control = { name: SettingName } & (
  | {
      kind: 'switch';
      /** What is stored for either. */
      on: unknown;
      off: unknown;
      /** What null means; `off` unless told. */
      absent?: unknown;
      /** Only who administrates the organization may change it. */
      isOfOrganization?: boolean;
    }
  | { kind: 'zone' | 'address' }
  | {
      kind: 'choices';
      choices: readonly string[];
      /** Asked for only while this one is on. */
      needs: SettingName;
    }
);

/** Some settings of the environment. Only what was changed is sent, so that what others changed meanwhile stays. */
export function SettingForm({
  title,
  about,
  controls,
}: {
  title: string;
  about?: string;
  controls: readonly Control[];
}) {
  const path = useEnvironmentPath();
  const stored = useProject() as Environment;
  const [draft, setDraft] = useState<Record<string, unknown>>({});
  const save = useChange({ onDone: () => setDraft({}) });
  const present = (name: string) => (Object.hasOwn(draft, name) ? draft[name] : stored[name]);
  const change = (name: string, value: unknown) => {
    save.reset();
    const { [name]: _, ...others } = draft;
    setDraft(JSON.stringify(value) === JSON.stringify(stored[name]) ? others : { ...others, [name]: value });
  };
  const isChanged = Object.keys(draft).length > 0;
  const request: ApiCall = isChanged ? { method: 'PATCH', path, body: draft } : { path };
  const shown = controls.filter((control) => control.kind !== 'choices' || present(control.needs) === true);
  return (
    <Block title={title} about={about} request={request}>
      <form
        className="form settings-controls"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate({ method: 'PATCH', path, body: draft });
        }}
      >
        {shown.map((control) => (
          <SettingControl
            key={control.name}
            control={control}
            value={present(control.name)}
            problem={save.error}
            onChange={(value) => change(control.name, value)}
          />
        ))}
        <FormProblem problem={save.error} fields={shown.map(({ name }) => name)} />
        <div className="form-buttons">
          <Button type="submit" isDisabled={save.isPending || !isChanged}>
            {shared.save}
          </Button>
          {isChanged && <Button onPress={() => setDraft({})}>{text.discard}</Button>}
          {save.isSuccess && <Done>{shared.saved}</Done>}
        </div>
      </form>
    </Block>
  );
}

interface ControlProps<Kind extends Control = Control> {
  control: Kind;
  value: unknown;
  problem: unknown;
  onChange: (value: unknown) => void;
}
type OfKind<Kind extends Control['kind']> = ControlProps<Extract<Control, { kind: Kind }>>;

function SettingControl({ control, ...props }: ControlProps) {
  if (control.kind === 'switch') return <Switch control={control} {...props} />;
  if (control.kind === 'choices') return <Several control={control} {...props} />;
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

/** One line of text. Empty is null, except where there must be something. */
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
      {isZone && <Choices id={`${id}-zones`} names={zones} />}
      <About id={`${id}-more`} name={name} problem={problem} />
    </div>
  );
}

/** All of them are null, which also takes in what comes later. */
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

const isAbout = (problem: unknown, name: string) => problem instanceof ApiProblem && problem.attr === name;

/** What the setting does, or what the server found wrong with it. */
function About({ id, name, problem }: { id: string; name: SettingName; problem: unknown }) {
  if (isAbout(problem, name)) {
    return (
      <p id={id} className="bad" role="alert">
        {explain(problem)}
      </p>
    );
  }
  return (
    <p id={id} className="quiet">
      <Marked words={effects[name].effect} />
    </p>
  );
}

/** Words with names of code between backticks. */
export function Marked({ words }: { words: string }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text never move
  return words.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part));
}
