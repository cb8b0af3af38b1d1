import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { Choices, useSuggestions } from '../../frame/suggestions.tsx';
import { Icon } from '../../parts/icon.tsx';
import { type Filter, type Flag, listOperators, plain, valuelessOperators } from './flag.ts';
import { useCohorts, useKnownFlags } from './known.ts';
import { text } from './words.ts';

const { form } = text;

/** One filter of a condition: by a property, a cohort, or another flag. */
export function FilterFields({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
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
      <Choices id={id} names={keys} />
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
      <Choices id={id} names={offered} />
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
      <Choices id={id} names={found.map((flag) => flag.key)} />
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
