import { useMutation } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { explain } from '../../parts/states.tsx';
import { formatNumber } from '../../words.ts';
import {
  type Condition,
  type Draft,
  type Filter,
  type Flag,
  listOperators,
  nextLocal,
  plain,
  valuelessOperators,
} from './flag.ts';
import { type GroupType, useCohorts, useGroupTypes, useKnownFlags, useSuggestions } from './known.ts';
import { text } from './words.ts';

const { form } = text;

type OneCondition = Draft['conditions'][number];

/** Which condition and filter the server's refusal is about, as far as it says. */
export interface ConditionProblem {
  condition: number | null;
  filter: number | null;
  message: string;
}

/** Conditions from top to bottom: filters, rollout, who is counted, which variant. */
export function Conditions({
  conditions,
  variants,
  problem,
  onChange,
}: {
  conditions: Draft['conditions'];
  variants: Draft['variants'];
  problem: ConditionProblem | null;
  onChange: (conditions: Draft['conditions']) => void;
}) {
  const groupTypes = useGroupTypes();
  const move = (from: number, to: number) => {
    const next = [...conditions];
    next.splice(to, 0, ...next.splice(from, 1));
    onChange(next);
  };
  return (
    <div className="flag-conditions">
      {conditions.map((condition, at) => (
        <fieldset
          key={condition.local}
          className="flag-condition"
          {...(problem?.condition === at && { 'data-bad': '' })}
        >
          <legend className="only-heard">{form.condition(at + 1)}</legend>
          <div className="flag-condition-head">
            <strong aria-hidden="true">{at + 1}</strong>
            <GroupChoice
              condition={condition}
              groupTypes={groupTypes}
              onChange={(to) => onChange(conditions.with(at, to))}
            />
            <span className="grow" />
            <Small label={form.up(at + 1)} isDisabled={at === 0} onPress={() => move(at, at - 1)}>
              ↑
            </Small>
            <Small label={form.down(at + 1)} isDisabled={at === conditions.length - 1} onPress={() => move(at, at + 1)}>
              ↓
            </Small>
            <Small
              label={form.removeCondition(at + 1)}
              isDisabled={conditions.length === 1}
              onPress={() => onChange(conditions.toSpliced(at, 1))}
            >
              <Icon name="close" size={11} />
            </Small>
          </div>
          <OneCondition
            condition={condition}
            number={at + 1}
            variants={variants}
            problem={problem?.condition === at ? problem : null}
            onChange={(changed) => onChange(conditions.with(at, changed))}
          />
        </fieldset>
      ))}
      <div className="form-buttons">
        <Button
          onPress={() => onChange([...conditions, { properties: [], rollout_percentage: 100, local: nextLocal() }])}
        >
          {form.addCondition}
        </Button>
      </div>
    </div>
  );
}

function Small({
  label,
  isDisabled = false,
  onPress,
  children,
}: {
  label: string;
  isDisabled?: boolean;
  onPress: () => void;
  children: React.ReactNode;
}) {
  return (
    <Button look="plain" aria-label={label} isDisabled={isDisabled} onPress={onPress}>
      {children}
    </Button>
  );
}

function GroupChoice({
  condition,
  groupTypes,
  onChange,
}: {
  condition: OneCondition;
  groupTypes: readonly GroupType[];
  onChange: (condition: OneCondition) => void;
}) {
  const chosen = condition.aggregation_group_type_index ?? null;
  if (groupTypes.length === 0 && chosen === null) return null;
  // The filters go along: a condition asks about persons, or about one type of groups.
  const choose = (value: string) => {
    const index = value === '' ? null : Number(value);
    const properties = condition.properties?.map(({ group_type_index: _, ...filter }) =>
      filter.type === 'person' || filter.type === 'group'
        ? {
            ...filter,
            ...(index === null ? { type: 'person' as const } : { type: 'group' as const, group_type_index: index }),
          }
        : filter,
    );
    onChange({ ...condition, aggregation_group_type_index: index, ...(properties && { properties }) });
  };
  return (
    <label className="flag-inline">
      <span className="quiet">{form.of}</span>
      <select className="input" value={chosen ?? ''} onChange={(event) => choose(event.target.value)}>
        <option value="">{form.persons}</option>
        {groupTypes.map(({ index, name }) => (
          <option key={index} value={index}>
            {form.groupsOf(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

function OneCondition({
  condition,
  number,
  variants,
  problem,
  onChange,
}: {
  condition: OneCondition;
  number: number;
  variants: Draft['variants'];
  problem: ConditionProblem | null;
  onChange: (condition: OneCondition) => void;
}) {
  const filters = condition.properties ?? [];
  const groupType = condition.aggregation_group_type_index ?? null;
  const rollout = condition.rollout_percentage ?? 100;
  const setFilters = (properties: Filter[]) => onChange({ ...condition, properties });
  const property: Filter =
    groupType === null
      ? { type: 'person', key: '', operator: 'exact', value: [] }
      : { type: 'group', group_type_index: groupType, key: '', operator: 'exact', value: [] };
  return (
    <>
      {filters.length === 0 && <p className="quiet">{groupType === null ? text.everyone : text.everyGroup}</p>}
      {filters.map((filter, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: filters are only added at the end and taken away
        <div key={at}>
          <div className="flag-filter">
            <FilterFields filter={filter} onChange={(changed) => setFilters(filters.with(at, changed))} />
            <Small label={`${form.removeFilter} ${at + 1}`} onPress={() => setFilters(filters.toSpliced(at, 1))}>
              <Icon name="close" size={11} />
            </Small>
          </div>
          {problem?.filter === at && (
            <p className="bad" role="alert">
              {problem.message}
            </p>
          )}
        </div>
      ))}
      <div className="form-buttons">
        <span className="quiet">{form.add}</span>
        <Button look="plain" onPress={() => setFilters([...filters, property])}>
          + {form.addProperty}
        </Button>
        {groupType === null && (
          <>
            <Button
              look="plain"
              onPress={() => setFilters([...filters, { type: 'cohort', key: 'id', operator: 'in', value: null }])}
            >
              + {form.addCohort}
            </Button>
            <Button
              look="plain"
              onPress={() =>
                setFilters([...filters, { type: 'flag', key: '', operator: 'flag_evaluates_to', value: true }])
              }
            >
              + {form.addFlag}
            </Button>
          </>
        )}
      </div>
      <div className="flag-rollout">
        <span className="quiet">{form.rollout}</span>
        <input
          type="range"
          min={0}
          max={100}
          value={rollout}
          aria-label={form.rolloutOf(number)}
          onChange={(event) => onChange({ ...condition, rollout_percentage: Number(event.target.value) })}
        />
        <input
          className="input mono"
          type="number"
          min={0}
          max={100}
          step="any"
          value={rollout}
          aria-label={form.rolloutOf(number)}
          onChange={(event) => onChange({ ...condition, rollout_percentage: Number(event.target.value) })}
        />
        <span className="quiet">%</span>
      </div>
      {variants.length > 0 && (
        <label className="flag-inline">
          <span className="quiet">{form.gets}</span>
          <select
            className="input"
            value={condition.variant ?? ''}
            onChange={(event) => onChange({ ...condition, variant: event.target.value || null })}
          >
            <option value="">{form.byShare}</option>
            {variants.map(({ local, key }) => (
              <option key={local}>{key}</option>
            ))}
          </select>
        </label>
      )}
      <Reach condition={condition} />
      {problem !== null && problem.filter === null && (
        <p className="bad" role="alert">
          {problem.message}
        </p>
      )}
    </>
  );
}

/** How many a condition lets in, when it is asked for: the server looks at every person. */
function Reach({ condition: { local, ...condition } }: { condition: OneCondition }) {
  const { id } = useProject();
  const body: { condition: Condition; group_type_index: number | null } = {
    condition,
    group_type_index: condition.aggregation_group_type_index ?? null,
  };
  const asked = JSON.stringify(body);
  const count = useMutation({
    mutationFn: async () => ({
      asked,
      answer: await call<{ users_affected: number; total_users: number; is_estimate: boolean }>({
        method: 'POST',
        path: `/api/projects/${id}/feature_flags/user_blast_radius`,
        body,
      }),
    }),
  });
  const answer = count.data?.asked === asked ? count.data.answer : null;
  return (
    <div className="form-buttons">
      <Button look="plain" isDisabled={count.isPending} onPress={() => count.mutate()}>
        {count.isPending ? form.counting : form.reach}
      </Button>
      <span role="status" className={count.error ? 'bad' : 'quiet'}>
        {count.error
          ? explain(count.error)
          : answer &&
            form.reaches(formatNumber(answer.users_affected), formatNumber(answer.total_users), answer.is_estimate)}
      </span>
    </div>
  );
}

function FilterFields({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  if (filter.type === 'cohort') return <CohortFilter filter={filter} onChange={onChange} />;
  if (filter.type === 'flag') return <FlagFilter filter={filter} onChange={onChange} />;
  return <PropertyFilter filter={filter} onChange={onChange} />;
}

interface FilterProps {
  filter: Filter;
  onChange: (filter: Filter) => void;
}

function PropertyFilter({ filter, onChange }: FilterProps) {
  const [isTyping, setTyping] = useState(false);
  const id = useId();
  const groupType = filter.type === 'group' ? Number(filter.group_type_index) : undefined;
  const keys = useSuggestions(
    'property_definitions',
    {
      type: filter.type,
      search: filter.key,
      limit: 20,
      ...(groupType !== undefined && { group_type_index: groupType }),
    },
    { isNeeded: isTyping, items: ({ results }: { results: { name: string }[] }) => results.map(({ name }) => name) },
  );
  const operator = filter.operator ?? 'exact';
  return (
    <>
      <input
        className="input mono"
        aria-label={form.property}
        placeholder={form.property}
        list={id}
        value={filter.key}
        maxLength={400}
        onFocus={() => setTyping(true)}
        onChange={(event) => onChange({ ...filter, key: event.target.value })}
      />
      <datalist id={id}>
        {keys.map((key) => (
          <option key={key}>{key}</option>
        ))}
      </datalist>
      <select
        className="input"
        aria-label={form.operator}
        value={operator}
        onChange={(event) =>
          onChange({ ...filter, operator: event.target.value, value: valueFor(event.target.value, filter.value) })
        }
      >
        {Object.entries(text.operators).map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
      <span className="flag-filter-value">
        <FilterValue filter={filter} operator={operator} onChange={(value) => onChange({ ...filter, value })} />
      </span>
    </>
  );
}

/** What was typed goes along to another operator, in the form that it takes. */
function valueFor(operator: string, value: unknown): unknown {
  if (valuelessOperators.has(operator)) return operator;
  const isEmpty = value === null || value === undefined || valuelessOperators.has(String(value));
  const list = isEmpty ? [] : Array.isArray(value) ? value : [value];
  if (listOperators.has(operator)) return list;
  if (operator === 'between' || operator === 'not_between') return [list[0] ?? '', list[1] ?? ''];
  return list[0] ?? '';
}

function FilterValue({
  filter,
  operator,
  onChange,
}: {
  filter: Filter;
  operator: string;
  onChange: (value: unknown) => void;
}) {
  if (valuelessOperators.has(operator)) return null;
  const list = Array.isArray(filter.value) ? filter.value : [filter.value];
  if (operator === 'between' || operator === 'not_between') {
    return [form.low, form.high].map((label, at) => (
      <input
        key={label}
        className="input mono"
        aria-label={label}
        placeholder={label}
        value={plain(list[at] ?? '')}
        onChange={(event) => onChange([list[0] ?? '', list[1] ?? ''].with(at, event.target.value))}
      />
    ));
  }
  if (!listOperators.has(operator)) {
    return (
      <input
        className="input mono"
        aria-label={form.value}
        placeholder={form.value}
        value={plain(filter.value ?? '')}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  }
  return (
    <ValuesInput
      label={form.values}
      values={list.filter((value) => value !== undefined && value !== null)}
      suggestionsOf={filter.type === 'person' ? filter.key : ''}
      onChange={onChange}
    />
  );
}

/** Several values; Enter or leaving the field takes what is typed. */
export function ValuesInput({
  label,
  values,
  suggestionsOf = '',
  onChange,
}: {
  label: string;
  values: readonly unknown[];
  /** Property of persons whose values are offered. */
  suggestionsOf?: string;
  onChange: (values: unknown[]) => void;
}) {
  const [typed, setTyped] = useState('');
  const [isTyping, setTyping] = useState(false);
  const id = useId();
  const offered = useSuggestions(
    'persons/values',
    { key: suggestionsOf, value: typed },
    {
      isNeeded: isTyping && suggestionsOf !== '',
      items: (answer: { name: string }[]) => answer.map(({ name }) => name),
    },
  );
  const take = () => {
    const value = typed.trim();
    setTyped('');
    if (value !== '' && !values.some((one) => plain(one) === value)) onChange([...values, value]);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter') {
      event.preventDefault();
      take();
    }
    if (event.key === 'Backspace' && typed === '' && values.length > 0) onChange(values.slice(0, -1));
  };
  return (
    <span className="flag-values input">
      {values.map((value, at) => (
        <span className="flag-value mono" key={plain(value)}>
          {plain(value)}
          <button
            type="button"
            className="chip-remove"
            aria-label={`${text.remove} ${plain(value)}`}
            onClick={() => onChange(values.toSpliced(at, 1))}
          >
            <Icon name="close" size={9} />
          </button>
        </span>
      ))}
      <input
        className="mono"
        aria-label={`${label}: ${form.addValue}`}
        placeholder={values.length === 0 ? label : ''}
        list={id}
        value={typed}
        onFocus={() => setTyping(true)}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={press}
        onBlur={take}
      />
      <datalist id={id}>
        {offered.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </datalist>
    </span>
  );
}

function CohortFilter({ filter, onChange }: FilterProps) {
  const cohorts = useCohorts(true);
  const chosen = filter.value === null || filter.value === undefined ? '' : String(filter.value);
  const isKnown = cohorts.some(({ id }) => String(id) === chosen);
  return (
    <>
      <select
        className="input"
        aria-label={form.operator}
        value={filter.operator === 'not_in' ? 'not_in' : 'in'}
        onChange={(event) => onChange({ ...filter, operator: event.target.value })}
      >
        <option value="in">{text.inCohort}</option>
        <option value="not_in">{text.notInCohort}</option>
      </select>
      <select
        className="input flag-filter-wide"
        aria-label={form.cohort}
        value={chosen}
        onChange={(event) =>
          onChange({ ...filter, value: Number(event.target.value), cohort_name: undefined as never })
        }
      >
        {!isKnown && <option value={chosen}>{filter.cohort_name ?? chosen}</option>}
        {cohorts.map(({ id, name }) => (
          <option key={id} value={id}>
            {name ?? `#${id}`}
          </option>
        ))}
      </select>
    </>
  );
}

/** Flags are chosen by their key; the condition holds their number. */
function FlagFilter({ filter, onChange }: FilterProps) {
  const { keyOf } = useKnownFlags();
  const [typed, setTyped] = useState<string | null>(null);
  const id = useId();
  const shown = typed ?? (filter.key === '' ? '' : keyOf(filter.key));
  const found = useSuggestions(
    'feature_flags',
    { search: typed ?? '', limit: 20 },
    { isNeeded: typed !== null, items: ({ results }: { results: Pick<Flag, 'id' | 'key'>[] }) => results },
  );
  const match = typed === null ? undefined : found.find((one) => one.key === typed.trim());
  useEffect(() => {
    if (match && filter.key !== String(match.id)) onChange({ ...filter, key: String(match.id) });
  });
  const type = (key: string) => {
    setTyped(key);
    onChange({ ...filter, key });
  };
  return (
    <>
      <input
        className="input mono"
        aria-label={form.flag}
        placeholder={form.flagHint}
        list={id}
        value={shown}
        onFocus={() => setTyped(shown)}
        onChange={(event) => type(event.target.value)}
      />
      <datalist id={id}>
        {found.map((flag) => (
          <option key={flag.id}>{flag.key}</option>
        ))}
      </datalist>
      <span className="quiet flag-gives">{form.gives}</span>
      <input
        className="input mono"
        aria-label={form.value}
        value={String(filter.value)}
        onChange={(event) => {
          const { value } = event.target;
          onChange({ ...filter, value: value === 'true' ? true : value === 'false' ? false : value });
        }}
      />
    </>
  );
}
