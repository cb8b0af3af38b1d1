// A single filter on a property or a cohort, for flags, insights and cohorts.

import { type KeyboardEvent, useId, useState } from 'react';
import type { Query } from '../api/request.ts';
import { SuggestionList, useSuggestions } from '../frame/suggestions.tsx';
import { Icon } from '../parts/icon.tsx';
import { words } from '../words.ts';
import { type Filter, formatFilterValue, listOperators, valuelessOperators } from './filter.ts';
import { useCohorts } from './filter-options.ts';
import { NamePicker } from './name-picker.tsx';
import { Select } from './select.tsx';
import { text } from './words.ts';
import './filters.css';

interface FilterProps {
  filter: Filter;
  onChange: (filter: Filter) => void;
}

/** A form for one filter. @param operators the operators that users can choose; by default, all operators */
export function PropertyFilter({
  filter,
  operators = text.operators,
  autoFocus = false,
  onChange,
}: FilterProps & { operators?: Partial<typeof text.operators>; autoFocus?: boolean }) {
  return (
    <>
      <NamePicker
        label={text.property}
        hint={text.property}
        of={filter.type === 'person' || filter.type === 'group' ? filter.type : 'event'}
        groupType={filter.type === 'group' ? Number(filter.group_type_index) : undefined}
        value={filter.key}
        isLive
        autoFocus={autoFocus}
        onName={(key) => onChange({ ...filter, key })}
      />
      <OperatorAndValue filter={filter} operators={operators} onChange={onChange} />
    </>
  );
}

const { exact, is_not, icontains, not_icontains, regex, not_regex } = text.operators;

export const EventNameFilter = (props: FilterProps) => (
  <OperatorAndValue {...props} operators={{ exact, is_not, icontains, not_icontains, regex, not_regex }} />
);

function OperatorAndValue({
  filter,
  operators,
  onChange,
}: FilterProps & { operators: Partial<typeof text.operators> }) {
  const operator = filter.operator ?? 'exact';
  return (
    <>
      <Select
        label={text.operator}
        value={operator}
        options={operators}
        onChoose={(next) => onChange({ ...filter, operator: next, value: valueFor(next, filter.value) })}
      />
      <span className="filter-value">
        <FilterValue filter={filter} operator={operator} onChange={(value) => onChange({ ...filter, value })} />
      </span>
    </>
  );
}

/** Converts the value to the format that a new operator requires, so that the user's input is not lost. */
function valueFor(operator: string, value: unknown): unknown {
  if (valuelessOperators.has(operator)) return operator;
  const isEmpty = value === null || value === undefined || valuelessOperators.has(String(value));
  const list = isEmpty ? [] : Array.isArray(value) ? value : [value];
  if (listOperators.has(operator)) return list;
  if (operator === 'between' || operator === 'not_between') return [list[0] ?? '', list[1] ?? ''];
  return list[0] ?? '';
}

interface Offered {
  path: string;
  query: (typed: string) => Query;
}

const valuesOf: Partial<Record<Filter['type'], string>> = { event: 'events/values', person: 'persons/values' };

function offeredFor({ type, key }: Filter): Offered | null {
  if (type === 'event_metadata') return { path: 'event_definitions', query: (typed) => ({ search: typed, limit: 20 }) };
  const path = valuesOf[type];
  return path === undefined || key === '' ? null : { path, query: (typed) => ({ key, value: typed }) };
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
    return [text.low, text.high].map((label, at) => (
      <input
        key={label}
        className="input mono"
        aria-label={label}
        placeholder={label}
        value={formatFilterValue(list[at] ?? '')}
        onChange={(event) => onChange([list[0] ?? '', list[1] ?? ''].with(at, event.target.value))}
      />
    ));
  }
  if (!listOperators.has(operator)) {
    return (
      <input
        className="input mono"
        aria-label={text.value}
        placeholder={text.value}
        value={formatFilterValue(filter.value ?? '')}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  }
  return (
    <ValuesInput
      label={text.values}
      values={list.filter((value) => value !== undefined && value !== null)}
      offered={offeredFor(filter)}
      onChange={onChange}
    />
  );
}

interface Named {
  name: string;
}

/** A field for several values. The typed value is added when the user presses Enter or leaves the field. */
export function ValuesInput({
  label,
  values,
  offered = null,
  onChange,
}: {
  label: string;
  values: readonly unknown[];
  offered?: Offered | null;
  onChange: (values: unknown[]) => void;
}) {
  const [typed, setTyped] = useState('');
  const [isTyping, setTyping] = useState(false);
  const id = useId();
  const names = useSuggestions(offered?.path ?? '', offered?.query(typed) ?? {}, {
    isNeeded: isTyping && offered !== null,
    items: (response: Named[] | { results: Named[] }) =>
      (Array.isArray(response) ? response : response.results).map(({ name }) => name),
  });
  const take = () => {
    const value = typed.trim();
    setTyped('');
    if (value !== '' && !values.some((one) => formatFilterValue(one) === value)) onChange([...values, value]);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter') {
      event.preventDefault();
      take();
    }
    if (event.key === 'Backspace' && typed === '' && values.length > 0) onChange(values.slice(0, -1));
  };
  return (
    <span className="filter-values input">
      {values.map((value, at) => (
        <span className="filter-one-value mono" key={formatFilterValue(value)}>
          {formatFilterValue(value)}
          <button
            type="button"
            className="chip-remove"
            aria-label={words.remove(formatFilterValue(value))}
            onClick={() => onChange(values.toSpliced(at, 1))}
          >
            <Icon name="close" size={9} />
          </button>
        </span>
      ))}
      <input
        className="mono"
        aria-label={`${label}: ${text.addValue}`}
        placeholder={values.length === 0 ? label : ''}
        list={id}
        value={typed}
        onFocus={() => setTyping(true)}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={press}
        onBlur={take}
      />
      <SuggestionList id={id} names={names} />
    </span>
  );
}

/** A form for a cohort filter. @param except the ID of a cohort that users cannot choose */
export function CohortFilter({ filter, except = null, onChange }: FilterProps & { except?: number | null }) {
  const cohorts = useCohorts(true).filter(({ id }) => id !== except);
  const chosen = filter.value === null || filter.value === undefined ? '' : String(filter.value);
  const isKnown = cohorts.some(({ id }) => String(id) === chosen);
  return (
    <>
      <select
        className="input"
        aria-label={text.operator}
        value={filter.operator === 'not_in' ? 'not_in' : 'in'}
        onChange={(event) => onChange({ ...filter, operator: event.target.value })}
      >
        <option value="in">{text.inCohort}</option>
        <option value="not_in">{text.notInCohort}</option>
      </select>
      <select
        className="input"
        aria-label={text.cohort}
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
