import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react';
import { queryClient } from '../../api/queries.ts';
import { ApiProblem, call } from '../../api/request.ts';
import { useHasLevel, useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { explain } from '../../parts/states.tsx';
import { type ConditionProblem, Conditions, ValuesInput } from './conditions.tsx';
import { changesOf, type Draft, draftOf, type Flag, fieldsOf, type KeptDraft, newFlag, nextLocal } from './flag.ts';
import { differences, linesOfValue } from './history.tsx';
import { useKnownFlags } from './known.ts';
import { showFlag } from './list.tsx';
import { text } from './words.ts';

const { form } = text;

/** Edits a flag. What is typed is kept by the page, until it is saved or discarded. */
export function Editor({
  flag,
  kept,
  onKeep,
  onSaved,
}: {
  flag: Flag;
  kept: KeptDraft | undefined;
  onKeep: (kept: KeptDraft | null) => void;
  onSaved: () => void;
}) {
  const { id: projectId } = useProject();
  const mayEdit = useHasLevel(1) && flag.can_edit;
  const unchanged = useMemo(() => draftOf(flag), [flag]);
  const draft = kept?.draft ?? unchanged;
  const base = kept?.base ?? flag;
  const changes = changesOf(draft, base);
  const path = `/api/projects/${projectId}/feature_flags/${flag.id}`;
  const [theirs, setTheirs] = useState<Flag | null>(null);
  const save = useMutation({
    mutationFn: (from: Flag) =>
      call<Flag>({ method: 'PATCH', path, body: { ...changes, version: from.version, original_flag: from } }),
    onSuccess: async (now) => {
      setTheirs(null);
      onKeep(null);
      onSaved();
      showFlag(projectId, now);
      await queryClient.invalidateQueries({ queryKey: ['flags', projectId] });
    },
    onError: async (error) => {
      if (!(error instanceof ApiProblem) || error.status !== 409) return;
      const now = await call<Flag>({ path });
      setTheirs(now);
      showFlag(projectId, now);
    },
  });
  const edit = (next: Draft) => {
    if (save.isSuccess) save.reset();
    const isChanged = Object.keys(changesOf(next, base)).length > 0;
    onKeep(isChanged ? { draft: next, base } : null);
  };
  /** Goes on from the flag as it is now, with a draft or without. */
  const startFrom = (now: Flag, next: Draft | null) => {
    setTheirs(null);
    save.reset();
    onKeep(next === null ? null : { draft: next, base: now });
  };
  const count = Object.keys(changes).length;
  const own = useProblemInSight(theirs ?? save.error);
  return (
    <form
      ref={own}
      className="flag-form"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(base);
      }}
    >
      <fieldset className="flag-fields" disabled={!mayEdit}>
        {!mayEdit && <p className="warn">{text.mayNotEdit}</p>}
        {theirs && (
          <Conflict
            base={base}
            theirs={theirs}
            changes={changes}
            onKeepMine={() => save.mutate(theirs)}
            onMerge={() => startFrom(theirs, draft)}
            onTakeTheirs={() => startFrom(theirs, null)}
          />
        )}
        <Fields draft={draft} error={theirs ? null : save.error} onChange={edit} isNew={false} keyBefore={flag.key} />
        <SdkWarnings warnings={flag.sdk_warnings} />
      </fieldset>
      {mayEdit && (
        <div className="flag-save">
          <Button type="submit" look="main" isDisabled={count === 0 || save.isPending || theirs !== null}>
            {form.save}
          </Button>
          {count > 0 && <Button onPress={() => startFrom(flag, null)}>{form.discard}</Button>}
          <span role="status" className={save.isSuccess && count === 0 ? 'good' : 'quiet'}>
            {count > 0 ? form.changedFields(count) : save.isSuccess ? form.saved : form.noChanges}
          </span>
        </div>
      )}
    </form>
  );
}

export function NewFlagEditor({
  kept,
  onKeep,
  onDiscard,
  onCreated,
}: {
  kept: KeptDraft | undefined;
  onKeep: (kept: KeptDraft | null) => void;
  onDiscard: () => void;
  onCreated: (flag: Flag) => void;
}) {
  const { id: projectId } = useProject();
  const mayEdit = useHasLevel(1);
  const [empty] = useState(() => draftOf(newFlag));
  const [startsOff, setStartsOff] = useState(false);
  const draft = kept?.draft ?? empty;
  const create = useMutation({
    mutationFn: () =>
      call<Flag>({
        method: 'POST',
        path: `/api/projects/${projectId}/feature_flags`,
        body: { ...fieldsOf(draft, {}), active: !startsOff },
      }),
    onSuccess: async (flag) => {
      await queryClient.invalidateQueries({ queryKey: ['flags', projectId] });
      onCreated(flag);
    },
  });
  const own = useProblemInSight(create.error);
  return (
    <form
      ref={own}
      className="flag-form"
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <fieldset className="flag-fields" disabled={!mayEdit}>
        {!mayEdit && <p className="warn">{text.mayNotEdit}</p>}
        <Fields
          draft={draft}
          error={create.error}
          onChange={(next) => onKeep({ draft: next, base: null })}
          isNew
          keyBefore=""
        />
        <label className="flag-check">
          <input type="checkbox" checked={startsOff} onChange={(event) => setStartsOff(event.target.checked)} />
          {form.startOff}
        </label>
      </fieldset>
      <div className="flag-save">
        <Button type="submit" look="main" isDisabled={!mayEdit || create.isPending}>
          {form.create}
        </Button>
        <Button
          onPress={() => {
            onKeep(null);
            onDiscard();
          }}
        >
          {form.discard}
        </Button>
      </div>
    </form>
  );
}

/** What was refused is scrolled to, where it stands. */
function useProblemInSight(problem: unknown) {
  const own = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (problem) own.current?.querySelector('[role="alert"]')?.scrollIntoView({ block: 'center' });
  }, [problem]);
  return own;
}

interface FieldsProps {
  draft: Draft;
  error: unknown;
  onChange: (draft: Draft) => void;
  isNew: boolean;
  keyBefore: string;
}

function Fields({ draft, error, onChange, isNew, keyBefore }: FieldsProps) {
  const problem = problemOf(error);
  const set = (changed: Partial<Draft>) => onChange({ ...draft, ...changed });
  const hint = isNew ? form.keyHint : draft.key === keyBefore ? undefined : form.keyChange;
  return (
    <>
      <General problem={problem}>
        {isNew && (
          <TextField
            label={form.key}
            value={draft.key}
            isMono
            isRequired
            hint={hint}
            problem={problem?.place === 'key' ? problem.message : null}
            onChange={(key) => set({ key })}
          />
        )}
        <TextField
          label={form.name}
          value={draft.name}
          problem={problem?.place === 'name' ? problem.message : null}
          onChange={(name) => set({ name })}
        />
      </General>
      <section className="flag-part">
        <h3>{form.conditions}</h3>
        <p className="hint">{form.conditionsHint}</p>
        <Problem problem={problem} place="conditions" />
        <Conditions
          conditions={draft.conditions}
          variants={draft.variants}
          problem={problem?.place === 'condition' ? problem : null}
          onChange={(conditions) => set({ conditions })}
        />
      </section>
      <section className="flag-part">
        <h3>{form.served}</h3>
        <Served draft={draft} problem={problem} onChange={onChange} />
      </section>
      <details className="flag-part">
        <summary>{form.settings}</summary>
        <div className="flag-settings">
          {!isNew && (
            <TextField
              label={form.key}
              value={draft.key}
              isMono
              isRequired
              hint={hint}
              problem={problem?.place === 'key' ? problem.message : null}
              onChange={(key) => set({ key })}
            />
          )}
          <div className="field">
            <span className="field-label">{form.tags}</span>
            <ValuesInput label={form.tags} values={draft.tags} onChange={(tags) => set({ tags: tags.map(String) })} />
          </div>
          <div className="field">
            <span className="field-label">{form.contexts}</span>
            <ValuesInput
              label={form.contexts}
              values={draft.evaluation_contexts}
              onChange={(contexts) => set({ evaluation_contexts: contexts.map(String) })}
            />
            <span className="hint">{form.contextsHint}</span>
          </div>
          <label className="field">
            <span className="field-label">{form.runtime}</span>
            <select
              className="input"
              value={draft.evaluation_runtime}
              onChange={(event) => set({ evaluation_runtime: event.target.value })}
            >
              {Object.entries(form.runtimes).map(([runtime, label]) => (
                <option key={runtime} value={runtime}>
                  {label}
                </option>
              ))}
            </select>
          </label>
          <label className="flag-check">
            <input
              type="checkbox"
              checked={draft.ensure_experience_continuity}
              onChange={(event) => set({ ensure_experience_continuity: event.target.checked })}
            />
            {form.keep}
          </label>
        </div>
      </details>
    </>
  );
}

/** The first fields; what the server said of none in particular stands above them. */
function General({ problem, children }: { problem: PlacedProblem | null; children: ReactNode }) {
  return (
    <div className="flag-part">
      <Problem problem={problem} place="form" />
      {children}
    </div>
  );
}

function Problem({ problem, place }: { problem: PlacedProblem | null; place: PlacedProblem['place'] }) {
  if (problem?.place !== place) return null;
  return (
    <p className="bad" role="alert">
      {problem.message}
    </p>
  );
}

function TextField({
  label,
  value,
  isMono = false,
  isRequired = false,
  hint,
  problem,
  onChange,
}: {
  label: string;
  value: string;
  isMono?: boolean;
  isRequired?: boolean;
  hint?: string | undefined;
  problem: string | null;
  onChange: (value: string) => void;
}) {
  const id = useId();
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        className={isMono ? 'input mono' : 'input'}
        value={value}
        required={isRequired}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-more`}
        onChange={(event) => onChange(event.target.value)}
      />
      <span id={`${id}-more`} className={problem ? 'bad' : 'hint'} role={problem ? 'alert' : undefined}>
        {problem ?? hint}
      </span>
    </div>
  );
}

/** On or off with a payload, or variants with their shares and payloads. */
function Served({
  draft,
  problem,
  onChange,
}: {
  draft: Draft;
  problem: PlacedProblem | null;
  onChange: (draft: Draft) => void;
}) {
  const id = useId();
  const { variants } = draft;
  const isMulti = variants.length > 0;
  const setVariants = (next: Draft['variants']) => onChange({ ...draft, variants: next });
  const variant = (key: string, share: number) => ({ key, rollout_percentage: share, payload: '', local: nextLocal() });
  const sum = Math.round(variants.reduce((total, one) => total + one.rollout_percentage, 0) * 1000) / 1000;
  return (
    <>
      <div className="flag-kinds">
        <label className="flag-check">
          <input type="radio" name={id} checked={!isMulti} onChange={() => setVariants([])} />
          {form.onOff}
        </label>
        <label className="flag-check">
          <input
            type="radio"
            name={id}
            checked={isMulti}
            onChange={() => isMulti || setVariants([variant('control', 50), variant('test', 50)])}
          />
          {form.variants}
        </label>
      </div>
      <Problem problem={problem} place="variants" />
      {!isMulti && (
        <PayloadField
          label={form.payload}
          value={draft.payload}
          onChange={(payload) => onChange({ ...draft, payload })}
        />
      )}
      {variants.map((one, at) => (
        <div className="flag-variant" key={one.local}>
          <input
            className="input mono"
            aria-label={`${form.variantKey} ${at + 1}`}
            value={one.key}
            maxLength={400}
            required
            onChange={(event) => setVariants(variants.with(at, { ...one, key: event.target.value }))}
          />
          <input
            className="input mono"
            type="number"
            min={0}
            max={100}
            step="any"
            aria-label={`${form.share}: ${one.key}`}
            value={one.rollout_percentage}
            onChange={(event) =>
              setVariants(variants.with(at, { ...one, rollout_percentage: Number(event.target.value) }))
            }
          />
          <span className="quiet">%</span>
          <Button
            look="plain"
            aria-label={form.removeVariant(one.key)}
            onPress={() => setVariants(variants.toSpliced(at, 1))}
          >
            <Icon name="close" size={11} />
          </Button>
          <PayloadField
            label={form.payloadOf(one.key)}
            isLabelHidden
            value={one.payload}
            onChange={(payload) => setVariants(variants.with(at, { ...one, payload }))}
          />
        </div>
      ))}
      {isMulti && (
        <div className="form-buttons">
          <Button onPress={() => setVariants([...variants, variant(`variant-${variants.length + 1}`, 0)])}>
            {form.addVariant}
          </Button>
          <Button onPress={() => setVariants(sharedEvenly(variants))}>{form.evenly}</Button>
          <span className={Math.abs(sum - 100) < 0.011 ? 'quiet' : 'bad'} role="status">
            {Math.abs(sum - 100) < 0.011 ? form.sum(sum) : form.sumWrong(sum)}
          </span>
        </div>
      )}
      <Problem problem={problem} place="payloads" />
    </>
  );
}

/** Whole percents; the first ones get what is left over. */
function sharedEvenly(variants: Draft['variants']): Draft['variants'] {
  const each = Math.floor(100 / variants.length);
  const left = 100 - each * variants.length;
  return variants.map((one, at) => ({ ...one, rollout_percentage: each + (at < left ? 1 : 0) }));
}

function PayloadField({
  label,
  isLabelHidden = false,
  value,
  onChange,
}: {
  label: string;
  isLabelHidden?: boolean;
  value: string;
  onChange: (value: string) => void;
}) {
  const id = useId();
  const isWrong = value.trim() !== '' && !isJson(value);
  return (
    <div className="field flag-payload">
      <label className={isLabelHidden ? 'only-heard' : 'field-label'} htmlFor={id}>
        {label}
      </label>
      <textarea
        id={id}
        className="input mono"
        rows={Math.min(8, Math.max(1, value.split('\n').length))}
        spellCheck={false}
        placeholder={isLabelHidden ? form.payload : undefined}
        value={value}
        aria-invalid={isWrong}
        aria-describedby={`${id}-more`}
        onChange={(event) => onChange(event.target.value)}
      />
      <span id={`${id}-more`} className="bad">
        {isWrong ? form.notJson : null}
      </span>
    </div>
  );
}

function isJson(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}

function SdkWarnings({ warnings }: { warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <details className="flag-part">
      <summary>{form.sdkWarnings}</summary>
      <ul className="flag-warnings">
        {warnings.map((warning) => (
          <li key={warning} className="quiet">
            {warning}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Where on the form a refusal belongs. */
interface PlacedProblem extends ConditionProblem {
  place: 'form' | 'key' | 'name' | 'condition' | 'conditions' | 'variants' | 'payloads';
}

/** The server names the field (`attr`), and within the filters the place at the beginning of its sentence. */
function problemOf(error: unknown): PlacedProblem | null {
  if (!error) return null;
  const message = explain(error);
  const placed = (place: PlacedProblem['place'], condition: number | null = null, filter: number | null = null) => ({
    ...{ place, condition, filter },
    message: message.replace(/^[a-z_[\].\d]+: /, ''),
  });
  const attr = error instanceof ApiProblem ? error.attr : null;
  if (attr === 'key' || attr === 'name') return placed(attr);
  if (attr !== 'filters') return placed('form');
  const at = /^groups\[(\d+)\](?:\.properties\[(\d+)\])?|groups\[(\d+)\]\.properties\[(\d+)\]/.exec(message);
  if (at) {
    const [condition, filter] = [at[1] ?? at[3], at[2] ?? at[4]];
    return placed('condition', Number(condition), filter === undefined ? null : Number(filter));
  }
  if (/payload/i.test(message)) return placed('payloads');
  if (/variant/i.test(message)) return placed('variants');
  return placed('conditions');
}

/** Two people changed the same: both states, and nothing typed is lost. */
function Conflict({
  base,
  theirs,
  changes,
  onKeepMine,
  onMerge,
  onTakeTheirs,
}: {
  base: Flag;
  theirs: Flag;
  changes: Record<string, unknown>;
  onKeepMine: () => void;
  onMerge: () => void;
  onTakeTheirs: () => void;
}) {
  const { keyOf } = useKnownFlags();
  const who = theirs.last_modified_by;
  const fields = Object.keys(changes).filter(
    (field) => JSON.stringify(changes[field]) !== JSON.stringify(theirs[field as keyof Flag]),
  );
  return (
    <section className="flag-conflict" role="alert">
      <h3>{text.conflict.title(who?.first_name || who?.email || text.somebody)}</h3>
      <p className="quiet">{text.conflict.text}</p>
      {fields.map((field) => {
        const lines = (value: unknown) => linesOfValue(field, value, keyOf);
        const [saved, mine] = differences(lines(theirs[field as keyof Flag]), lines(changes[field]));
        return (
          <div key={field} className="flag-sides">
            <strong>{text.conflict.fields[field] ?? field}</strong>
            <Side title={text.conflict.theirs(theirs.version)} lines={saved} />
            <Side title={text.conflict.mine} lines={mine} />
          </div>
        );
      })}
      <div className="form-buttons">
        <Button onPress={onMerge}>{text.conflict.merge}</Button>
        <Button onPress={onTakeTheirs}>{text.conflict.takeTheirs}</Button>
        <Button look="danger" onPress={onKeepMine}>
          {text.conflict.keepMine}
        </Button>
      </div>
      <p className="hint">{text.conflict.begun(base.version)}</p>
    </section>
  );
}

function Side({ title, lines }: { title: string; lines: readonly string[] }) {
  return (
    <div>
      <p className="hint">{title}</p>
      {lines.length === 0 ? (
        <p className="quiet">{text.conflict.nothing}</p>
      ) : (
        lines.map((line) => (
          <p key={line} className="flag-line">
            {line}
          </p>
        ))
      )}
    </div>
  );
}
