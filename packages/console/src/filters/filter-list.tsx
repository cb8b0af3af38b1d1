// A list of event filters for queries and dashboards. Each filter is shown as text, and users can edit one filter at a
// time in a form.

import { type KeyboardEvent, useRef, useState } from 'react';
import { escapeInvisible } from '../event-detail/json-text.ts';
import { Button } from '../parts/button.tsx';
import { FocusFirst } from '../parts/focus-first.tsx';
import { Icon } from '../parts/icon.tsx';
import { isFields, toFields } from '../results/insight-query.ts';
import { words } from '../words.ts';
import { createFilter, describePropertyFilter, eventNameKey, type Filter, isComplete } from './filter.ts';
import { useCohorts, useGroupTypes } from './filter-options.ts';
import { CohortFilter, EventNameFilter, PropertyFilter } from './property-filter.tsx';
import { Select } from './select.tsx';
import { text } from './words.ts';
import './filters.css';

/**
 * A list of filters that are combined with AND. An incomplete filter has no effect.
 * @param filters the filters in the API's format
 */
export function FilterList({
  filters: given,
  of,
  onFilters,
  onEditing,
}: {
  filters: unknown;
  /** Letter (A, B, …) of the event that the filters apply to. Undefined if they apply to the entire query. */
  of?: string;
  onFilters: (filters: unknown[] | undefined) => void;
  /** Called when the user opens or closes a filter form. The surrounding form cannot be saved while it is open. */
  onEditing?: (isEditing: boolean) => void;
}) {
  /** Index of the filter that the user is editing. An index after the last filter stands for a new filter. */
  const [edited, showEdited] = useState<number | null>(null);
  const setEdited = (at: number | null) => {
    showEdited(at);
    onEditing?.(at !== null);
  };
  const filters: unknown[] = Array.isArray(given) ? given : isFields(given) ? [given] : [];
  const lineOf = useFilterLines(filters);
  const set = (next: unknown[]) => onFilters(next.length === 0 ? undefined : next);
  const formAt = (at: number) => (
    <FilterForm
      key={at}
      filter={isEditable(filters[at]) ? filters[at] : createFilter('event')}
      isNew={at === filters.length}
      onFilter={(filter) => {
        setEdited(null);
        set(filters.toSpliced(at, 1, filter));
      }}
      onClose={() => setEdited(null)}
    />
  );
  return (
    <>
      {filters.map((one, at) => {
        if (at === edited) return formAt(at);
        const line = lineOf(one);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a filter has no ID other than its index
          <div key={at} className="filter-line">
            {isEditable(one) ? (
              <button type="button" className="link-button grow cut" onClick={() => setEdited(at)}>
                {line}
              </button>
            ) : (
              <span className="grow cut">{line}</span>
            )}
            <Button look="plain" aria-label={words.remove(line)} onPress={() => set(filters.toSpliced(at, 1))}>
              <Icon name="close" size={11} />
            </Button>
          </div>
        );
      })}
      {edited === filters.length ? (
        formAt(edited)
      ) : (
        <span>
          <Button {...(of !== undefined && { look: 'plain' })} onPress={() => setEdited(filters.length)}>
            {of === undefined ? text.addFilter : text.addFilterOf(of)}
          </Button>
        </span>
      )}
    </>
  );
}

export function useFilterLines(filters: readonly unknown[]): (filter: unknown) => string {
  const cohorts = useCohorts(filters.some((one) => toFields(one).type === 'cohort'));
  const groups = useGroupTypes();
  return (one) => {
    const filter = toFields(one);
    if (typeof filter.key !== 'string') return text.otherFilter;
    const cohort = cohorts.find(({ id }) => id === Number(filter.value));
    const owner =
      filter.type === 'group'
        ? (groups.find(({ index }) => index === filter.group_type_index)?.name ?? text.owners.group)
        : filter.type === 'person'
          ? text.owners.person
          : '';
    const line = describePropertyFilter({
      ...(filter as Filter),
      ...(cohort && { cohort_name: cohort.name ?? `#${cohort.id}` }),
    });
    return escapeInvisible(owner === '' ? line : text.filterLine(owner, line)).slice(0, 200);
  };
}

const editable = new Set<unknown>([undefined, 'event', 'person', 'group', 'cohort']);
function isEditable(filter: unknown): filter is Filter {
  const { type, key } = toFields(filter);
  return typeof key === 'string' && (editable.has(type) || (type === 'event_metadata' && key === eventNameKey));
}

/** Insight queries do not support the operators `starts_with` and `ends_with` or their negations. */
const { starts_with: _, not_starts_with: __, ends_with: ___, not_ends_with: ____, ...operators } = text.operators;

function FilterForm({
  filter: given,
  isNew,
  onFilter,
  onClose,
}: {
  filter: Filter;
  isNew: boolean;
  onFilter: (filter: Filter) => void;
  onClose: () => void;
}) {
  const groups = useGroupTypes();
  const [filter, show] = useState<Filter>({ ...given, type: given.type ?? 'event' });
  // A field commits its typed value when it loses the focus, possibly because the user presses the submit button. The
  // ref contains that value before React renders it.
  const latest = useRef(filter);
  const setFilter = (next: Filter) => {
    latest.current = next;
    show(next);
  };
  const [isIncomplete, setIncomplete] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const { event, event_metadata, person, cohort } = text.filterOf;
  const ofGroups = Object.fromEntries(groups.map(({ index, name }) => [`group ${index}`, escapeInvisible(name)]));
  const choose = (chosen: string) => {
    const [type, index] = chosen.split(' ') as ['event' | 'event_metadata' | 'person' | 'group' | 'cohort', string?];
    setFilter(createFilter(type, index === undefined ? {} : { group_type_index: Number(index) }));
  };
  const take = () => (isComplete(latest.current) ? onFilter(latest.current) : setIncomplete(true));
  /** Pressing Enter in a field adds the filter instead of submitting the surrounding form. */
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.defaultPrevented || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    take();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the key handler serves the fields inside
    <div className="filter-form" ref={box} onKeyDown={press}>
      <FocusFirst inside={box} />
      <Select
        label={text.filterType}
        value={filter.type === 'group' ? `group ${filter.group_type_index}` : filter.type}
        options={{ event, event_metadata, person, ...ofGroups, cohort }}
        onChoose={choose}
      />
      <div className="filter-fields filter-pair">
        {filter.type === 'cohort' ? (
          <CohortFilter filter={filter} onChange={setFilter} />
        ) : filter.type === 'event_metadata' ? (
          <EventNameFilter filter={filter} onChange={setFilter} />
        ) : (
          <PropertyFilter filter={filter} operators={operators} autoFocus={isNew} onChange={setFilter} />
        )}
      </div>
      <div className="form-buttons">
        <Button onPress={take}>{isNew ? text.addFilter : text.changeFilter}</Button>
        <Button look="plain" onPress={onClose}>
          {words.cancel}
        </Button>
      </div>
      {/* The message is below the buttons, so that the buttons do not move when a press hides the message. */}
      {isIncomplete && !isComplete(filter) && (
        <p className="bad" role="alert">
          {text.incompleteFilter}
        </p>
      )}
    </div>
  );
}
