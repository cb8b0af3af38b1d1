// The field for choosing the name of an event or a property.

import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { ComboBox } from 'react-aria-components/ComboBox';
import { Input } from 'react-aria-components/Input';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { escapeInvisible } from '../event-detail/json-text.ts';
import { useSuggestions } from '../frame/suggestions.tsx';
import { formatAgo } from '../parts/ago.ts';
import { formatPropertyName } from '../parts/properties.ts';
import { formatNumber } from '../words.ts';
import { text } from './words.ts';
import './filters.css';

interface Definition {
  name: string;
  volume_30_day: number | null;
  last_seen_at?: string | null;
}

interface Option {
  id: string;
  name: string;
  hint: string;
}

const words = text.picker;
/** Returns the option key for a name. The name is empty for the option "all events". */
const keyOf = (name: string) => `name ${name}`;

/**
 * A searchable list of events or properties, with the most frequent ones first. Users can also enter names that the
 * project has not received yet.
 * @param of `events`, or the type of the property
 * @param empty the label of the option that selects no specific name
 * @param isLive whether to report every keystroke; by default, a name is reported when the user chooses it, presses
 * Enter or leaves the field
 */
export function NamePicker({
  label,
  hint,
  value,
  of,
  groupType,
  empty,
  isInvalid = false,
  isLive = false,
  autoFocus = false,
  onName,
}: {
  label: string;
  hint: string;
  value: string;
  of: 'events' | 'event' | 'person' | 'group';
  groupType?: number | undefined;
  empty?: string;
  isInvalid?: boolean;
  isLive?: boolean;
  autoFocus?: boolean;
  onName: (name: string) => void;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  const [isUsed, setUsed] = useState(autoFocus);
  // React batches state updates, so several handlers may run for one key press before the next render. The ref contains
  // the latest input.
  const pending = useRef<string | null>(null);
  const show = (name: string | null) => {
    pending.current = name;
    setTyped(name);
  };
  // Shows the new name when the `value` prop changes, unless the user is typing.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `show` is a new function on every render
  useEffect(() => {
    if (pending.current !== value) show(null);
  }, [value]);
  const options = useOptions({ typed, value, of, groupType, empty, isUsed, isLive });
  const take = (name: string) => {
    pending.current = null;
    setTyped(isLive ? null : name);
    if (name !== value) onName(name);
  };
  const takeTyped = () => pending.current !== null && take(pending.current.trim());
  const press = ({ key }: KeyboardEvent) => key === 'Enter' && takeTyped();
  return (
    <ComboBox
      className="picker grow"
      aria-label={label}
      allowsCustomValue
      menuTrigger="focus"
      autoFocus={autoFocus}
      isInvalid={isInvalid}
      items={options}
      defaultFilter={() => true}
      inputValue={typed ?? value}
      // While the user is typing, select no key, because changing the selected key would close the list.
      selectedKey={isLive && typed !== null ? null : keyOf(value)}
      onInputChange={(name) => {
        if (name === (pending.current ?? value)) return;
        show(name);
        if (isLive) onName(name);
      }}
      onSelectionChange={(key) => key !== null && take(String(key).slice(keyOf('').length))}
      onFocus={() => setUsed(true)}
      onBlur={takeTyped}
    >
      <Input className={of === 'events' ? 'input' : 'input mono'} placeholder={hint} maxLength={400} onKeyUp={press} />
      <Popover className="picker-popover" offset={4}>
        <ListBox className="menu picker-list" items={options}>
          {({ id, name, hint: about }: Option) => (
            <ListBoxItem id={id} className="menu-item picker-item" textValue={name}>
              <span className="grow picker-name">
                {name === '' ? empty : escapeInvisible(of === 'events' ? name : formatPropertyName(name))}
              </span>
              <span className="hint">{about}</span>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}

function useOptions({
  typed,
  value,
  of,
  groupType,
  empty,
  isUsed,
  isLive,
}: {
  typed: string | null;
  value: string;
  of: 'events' | 'event' | 'person' | 'group';
  groupType: number | undefined;
  empty: string | undefined;
  isUsed: boolean;
  isLive: boolean;
}): Option[] {
  const search = typed?.trim() ?? '';
  const isEvent = of === 'events';
  const path = isEvent ? 'event_definitions' : 'property_definitions';
  const ofKind = { type: isEvent ? undefined : of, group_type_index: groupType };
  // A project may have thousands of names, so load only the most recently received names that match the input.
  const query = {
    ...ofKind,
    exclude_hidden: true,
    search: search.slice(0, 100),
    ordering: '-last_seen_at',
    limit: 100,
  };
  const items = ({ results }: { results: Definition[] }) => results;
  const found = useSuggestions(path, query, { isNeeded: isUsed, items });
  // Counting takes longer, so load the names first without counts.
  const counted = useSuggestions(path, { ...query, volumes: true }, { isNeeded: isUsed, items });
  const volumes = useRef(new Map<string, number | null>()).current;
  for (const { name, volume_30_day: volume } of counted) volumes.set(name, volume);
  const byVolume = found
    .map((one) => ({ ...one, volume_30_day: volumes.get(one.name) ?? null }))
    .toSorted((one, other) => (other.volume_30_day ?? 0) - (one.volume_30_day ?? 0));
  const options = byVolume.map((one) => ({ id: keyOf(one.name), name: one.name, hint: hintOf(one, isEvent) }));
  const isListed = (name: string) => options.some((one) => one.name === name);
  // The list contains only names that the project has received, so also offer the name in the input field.
  const unlisted = isLive ? [] : [typed === null ? value : search].filter((name) => name !== '' && !isListed(name));
  return [
    ...(empty !== undefined && search === '' ? [{ id: keyOf(''), name: '', hint: '' }] : []),
    ...options,
    ...unlisted.map((name) => ({ id: keyOf(name), name, hint: found.length === 0 ? '' : words.unseen })),
  ];
}

/**
 * Returns the hint next to a name: how often the event or property was received and, if the property has a readable
 * name, its raw name.
 */
function hintOf({ name, volume_30_day: volume, last_seen_at: seen }: Definition, isEvent: boolean): string {
  const own = isEvent || formatPropertyName(name) === name ? '' : name;
  const count = volume === null ? '' : words.volume(formatNumber(volume));
  return [own, count, seen ? words.seen(formatAgo(seen)) : ''].filter(Boolean).join(' · ');
}
