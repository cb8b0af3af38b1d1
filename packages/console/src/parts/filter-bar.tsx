// Components above a list: active filters, the search field, and a hint about unknown URL parameters.

import type { ReactNode } from 'react';
import { words } from '../words.ts';
import { Icon } from './icon.tsx';
import { Search } from './search.tsx';

export interface Chip {
  key: string;
  /** Name of the filtered property, for example `event`. */
  name: string;
  /** Operator of the filter, for example `is`, `is not` or `contains`. */
  relation?: string;
  value: string;
  remove: () => void;
}

/**
 * Shows the active filters in one line, each with a button that removes it.
 * @param children the list's buttons, at the end of the line
 */
export function FilterBar({
  chips,
  search,
  children,
}: {
  chips: readonly Chip[];
  search?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <div className="chips">
      {search}
      {chips.map(({ key, name, relation, value, remove }) => (
        <span className="chip" key={key}>
          <span className="cut">
            <strong>{name}</strong> {relation && <span className="quiet">{relation}</span>} {value}
          </span>
          <button type="button" className="chip-remove" aria-label={words.remove(`${name} ${value}`)} onClick={remove}>
            <Icon name="close" size={10} />
          </button>
        </span>
      ))}
      {children && <div className="chips-end">{children}</div>}
    </div>
  );
}

/**
 * A list's search field, which is stored in the URL parameter `search`.
 * @param children the list's buttons, at the end of the line
 */
export function SearchBar({
  address: { view, change },
  label,
  children,
}: {
  address: { view: { search: string }; change: (to: { search: string }, options: { replace: boolean }) => void };
  label: string;
  children?: ReactNode;
}) {
  const search = (
    <Search value={view.search} label={label} onSearch={(found) => change({ search: found }, { replace: true })} />
  );
  return (
    <FilterBar chips={[]} search={search}>
      {children}
    </FilterBar>
  );
}

/**
 * Warns about unknown URL parameters, which the page ignores. Only plausible names are shown, because any website can
 * link to this page with any name.
 */
export function AddressHint({ unknown }: { unknown: readonly string[] }) {
  if (unknown.length === 0) return null;
  const names = unknown.filter((name) => /^[a-z_]{1,20}$/.test(name)).slice(0, 5);
  return (
    <p className="quiet" role="status">
      {words.unknownInAddress(names, unknown.length)}
    </p>
  );
}
