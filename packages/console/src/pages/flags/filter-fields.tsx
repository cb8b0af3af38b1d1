import { useEffect, useId, useState } from 'react';
import type { Filter } from '../../filters/filter.ts';
import { CohortFilter, PropertyFilter } from '../../filters/property-filter.tsx';
import { SuggestionList, useSuggestions } from '../../frame/suggestions.tsx';
import type { Flag } from './flag.ts';
import { useFlagSuggestions } from './flag-suggestions.ts';
import { text } from './words.ts';

const { form } = text;

interface FilterProps {
  filter: Filter;
  /** Whether the user has just added the filter. A new filter takes the focus. */
  isNew?: boolean;
  onChange: (filter: Filter) => void;
}

export function FilterFields({ filter, isNew = false, onChange }: FilterProps) {
  if (filter.type === 'cohort') return <CohortFilter filter={filter} onChange={onChange} />;
  if (filter.type === 'flag') return <FlagFilter filter={filter} onChange={onChange} />;
  return <PropertyFilter filter={filter} autoFocus={isNew} onChange={onChange} />;
}

/** A form for a filter on another flag. Users choose the flag by key, but the filter stores the flag's ID. */
function FlagFilter({ filter, onChange }: FilterProps) {
  const { keyOf } = useFlagSuggestions();
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
      <SuggestionList id={id} names={found.map((flag) => flag.key)} />
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
