// The filters of the Events page: their URL format, their display, and the search field for event names.

import { useId, useState } from 'react';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { SuggestionList, useSuggestions } from '../../frame/suggestions.tsx';
import { isUuid } from '../../parts/address.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import type { Chip } from '../../parts/filter-bar.tsx';
import { formatPropertyName } from '../../parts/properties.ts';
import { Search } from '../../parts/search.tsx';
import { words } from '../../words.ts';
import { text } from './words.ts';

export interface PropertyFilter {
  key: string;
  operator: string;
  value?: string;
  type: 'event' | 'person' | 'event_metadata';
}

export interface Filters {
  event: string;
  distinct_id: string;
  person_id: string;
  /** Property filters as JSON in the API's format. */
  properties: string;
}

/** Parses the property filters in a URL. @returns null if the JSON is not a valid list of filters */
export function parseProperties(json: string): PropertyFilter[] | null {
  if (json === '') return [];
  try {
    const list: unknown = JSON.parse(json);
    const isFilter = (one: unknown) =>
      typeof one === 'object' &&
      one !== null &&
      'key' in one &&
      typeof one.key === 'string' &&
      Object.hasOwn(text.relations, (one as PropertyFilter).operator ?? 'exact');
    if (!Array.isArray(list) || !list.every(isFilter)) return null;
    return list.map((one: PropertyFilter) => ({
      ...one,
      operator: one.operator ?? 'exact',
      type: one.type ?? 'event',
    }));
  } catch {
    return null;
  }
}

export const setNameFilter = (properties: readonly PropertyFilter[], part: string) =>
  writeProperties([
    ...properties,
    ...(part === '' ? [] : [{ key: 'event', operator: 'icontains', value: part, type: 'event_metadata' as const }]),
  ]);

const writeProperties = (filters: readonly PropertyFilter[]) => (filters.length === 0 ? '' : JSON.stringify(filters));

export function createChips(
  filters: Filters,
  properties: readonly PropertyFilter[],
  change: (changed: Partial<Filters>) => void,
): Chip[] {
  const chips: Chip[] = [];
  const add = (key: 'event' | 'distinct_id' | 'person_id', name: string) => {
    if (filters[key] === '') return;
    chips.push({ key, name, value: escapeInvisible(filters[key]).slice(0, 120), remove: () => change({ [key]: '' }) });
  };
  add('event', text.eventChip);
  add('distinct_id', text.distinctChip);
  add('person_id', text.person);
  properties.forEach(({ key, operator, value, type }, at) => {
    chips.push({
      key: `${at} ${type} ${key}`,
      name:
        type === 'person'
          ? `${escapeInvisible(formatPropertyName(key))} ${text.personOf}`
          : escapeInvisible(formatPropertyName(key)),
      relation: text.relations[operator] ?? operator,
      value: value === undefined ? '' : escapeInvisible(String(value)).slice(0, 120),
      remove: () => change({ properties: writeProperties(properties.filter((_, other) => other !== at)) }),
    });
  });
  return chips;
}

export const addPropertyFilter = (properties: readonly PropertyFilter[], added: PropertyFilter) =>
  writeProperties([...properties.filter((one) => JSON.stringify(one) !== JSON.stringify(added)), added]);

export const searchId = 'event-search';

/**
 * A search field that filters the list by a substring of the event name while the user types. Pressing Enter filters by
 * the complete event name or, if the text is an event's UUID, opens the event.
 */
export function NameSearch({
  value,
  onSearch,
  onEvent,
  onUuid,
}: {
  value: string;
  onSearch: (part: string) => void;
  onEvent: (name: string) => void;
  onUuid: (uuid: string) => void;
}) {
  const list = useId();
  const names = useDefinitionNames('event_definitions', value, value !== '');
  return (
    <>
      <Search
        id={searchId}
        value={value}
        label={text.search}
        shortcut="/"
        list={list}
        onSearch={(typed) => {
          if (!isUuid(typed.trim())) onSearch(typed);
        }}
        onEnter={(typed) => {
          const isId = isUuid(typed.trim());
          if (isId) onUuid(typed.trim().toLowerCase());
          else if (names.includes(typed)) onEvent(typed);
          else onSearch(typed);
          return isId || names.includes(typed) ? '' : typed;
        }}
      />
      <SuggestionList id={list} names={names} />
    </>
  );
}

export function FilterDialog({
  onFilters,
  properties,
  onClose,
}: {
  onFilters: (changed: Partial<Filters>) => void;
  properties: readonly PropertyFilter[];
  onClose: () => void;
}) {
  const [by, setBy] = useState<keyof typeof text.byWhat>('property');
  const [key, setKey] = useState('');
  const [operator, setOperator] = useState('exact');
  const [value, setValue] = useState('');
  const [keys, values] = [useId(), useId()];
  const isProperty = by === 'property' || by === 'person';
  const names = useDefinitionNames('property_definitions', key, isProperty, by === 'person' ? 'person' : 'event');
  const eventNames = useDefinitionNames('event_definitions', value, by === 'event');
  const known = useSuggestions(
    by === 'person' ? 'persons/values' : 'events/values',
    { key: key.trim() },
    {
      isNeeded: isProperty && names.includes(key.trim()),
      items: (found: { name: string }[]) => found.map(({ name }) => name),
    },
  );
  const needsValue = !isProperty || !operator.endsWith('_set');
  const isComplete = (!isProperty || key.trim() !== '') && (!needsValue || value !== '');
  const add = () => {
    if (!isComplete) return;
    if (by === 'event' || by === 'distinct_id') onFilters({ [by]: value });
    else {
      const type = by === 'person' ? 'person' : 'event';
      const filter = { key: key.trim(), operator, ...(needsValue && { value }), type } as const;
      onFilters({ properties: addPropertyFilter(properties, filter) });
    }
  };
  return (
    <Dialog title={text.filterTitle} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <label className="field">
          <span className="field-label">{text.by}</span>
          <select className="input" value={by} onChange={({ target }) => setBy(target.value as typeof by)}>
            {Object.entries(text.byWhat).map(([id, name]) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        {isProperty && (
          <>
            <label className="field">
              <span className="field-label">{text.property}</span>
              <input
                className="input mono"
                list={keys}
                value={key}
                maxLength={400}
                onChange={({ target }) => setKey(target.value)}
              />
            </label>
            <label className="field">
              <span className="field-label">{text.relation}</span>
              <select className="input" value={operator} onChange={({ target }) => setOperator(target.value)}>
                {Object.entries(text.relations).map(([id, name]) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          </>
        )}
        {needsValue && (
          <label className="field">
            <span className="field-label">{text.value}</span>
            <input
              className="input mono"
              list={values}
              value={value}
              onChange={({ target }) => setValue(target.value)}
            />
          </label>
        )}
        <SuggestionList id={keys} names={names} />
        <SuggestionList id={values} names={by === 'event' ? eventNames : known} />
        <div className="form-buttons">
          <Button type="submit" look="main" isDisabled={!isComplete}>
            {text.apply}
          </Button>
          <Button onPress={onClose}>{words.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Loads event names that contain the search text. Never returns names for an earlier search text. */
export function useDefinitionNames(
  resource: 'event_definitions' | 'property_definitions',
  typed: string,
  isEnabled: boolean,
  type?: 'event' | 'person',
): string[] {
  return useSuggestions(
    resource,
    { search: typed.trim().slice(0, 100), type, exclude_hidden: true, limit: 50 },
    { isNeeded: isEnabled, items: ({ results }: { results: { name: string }[] }) => results.map(({ name }) => name) },
  );
}
