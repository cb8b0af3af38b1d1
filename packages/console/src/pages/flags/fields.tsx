// The form fields of a feature flag: key, description, conditions, variants and payloads.

import { type ReactNode, useId } from 'react';
import { ApiProblem } from '../../api/request.ts';
import { ValuesInput } from '../../filters/property-filter.tsx';
import { Button } from '../../parts/button.tsx';
import { LabelledInput } from '../../parts/form.tsx';
import { Icon } from '../../parts/icon.tsx';
import { explainError } from '../../parts/states.tsx';
import { type ConditionProblem, ReleaseConditions } from './conditions.tsx';
import { type Draft, newLocalId } from './flag.ts';
import { text } from './words.ts';

const { form } = text;

interface FieldsProps {
  draft: Draft;
  error: unknown;
  onChange: (draft: Draft) => void;
  isNew: boolean;
  keyBefore: string;
  children?: ReactNode;
}

export function FlagFields({ draft, error, onChange, isNew, keyBefore, children }: FieldsProps) {
  const problem = problemOf(error);
  const set = (changed: Partial<Draft>) => onChange({ ...draft, ...changed });
  const keyField = (
    <TextField
      label={form.key}
      value={draft.key}
      isMono
      isRequired
      hint={isNew ? form.keyHint : draft.key === keyBefore ? undefined : form.keyChange}
      problem={problem?.place === 'key' ? problem.message : null}
      onChange={(key) => set({ key })}
    />
  );
  return (
    <>
      <div className="flag-part">
        <Problem problem={problem} place="form" />
        {isNew && keyField}
        <TextField
          label={form.name}
          value={draft.name}
          problem={problem?.place === 'name' ? problem.message : null}
          onChange={(name) => set({ name })}
        />
        {children}
      </div>
      <section className="flag-part">
        <h3>{form.conditions}</h3>
        <p className="hint">{form.conditionsHint}</p>
        <Problem problem={problem} place="conditions" />
        <ReleaseConditions
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
          {!isNew && keyField}
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

function Problem({ problem, place }: { problem: PlacedProblem | null; place: PlacedProblem['place'] }) {
  if (problem?.place !== place) return null;
  return (
    <p className="bad" role="alert">
      {problem.message}
    </p>
  );
}

function TextField({
  isMono = false,
  isRequired = false,
  onChange,
  problem,
  ...field
}: {
  label: string;
  value: string;
  isMono?: boolean;
  isRequired?: boolean;
  hint?: string | undefined;
  problem: string | null;
  onChange: (value: string) => void;
}) {
  return (
    <LabelledInput
      {...field}
      className={isMono ? 'input mono' : 'input'}
      required={isRequired}
      wrong={problem}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** Fields for the flag's value: a boolean with a payload, or variants with their rollout percentages and payloads. */
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
  const variant = (key: string, share: number) => ({
    key,
    rollout_percentage: share,
    payload: '',
    local: newLocalId(),
  });
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

/** Splits 100% into whole percentages that differ by at most 1. The first variants get the larger percentages. */
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

interface PlacedProblem extends ConditionProblem {
  place: 'form' | 'key' | 'name' | 'condition' | 'conditions' | 'variants' | 'payloads';
}

/**
 * Finds the form field that caused a server error. The API names the field in `attr`. For filters, the error message
 * begins with a path, such as `groups[0].properties[1]`.
 */
function problemOf(error: unknown): PlacedProblem | null {
  if (!error) return null;
  const message = explainError(error);
  const placed = (place: PlacedProblem['place'], condition: number | null = null, filter: number | null = null) => ({
    place,
    condition,
    filter,
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
