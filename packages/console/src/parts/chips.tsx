// Components for the area above a list: active filters, the search field, and a hint about unknown URL parameters.

import type { ReactNode } from 'react';
import { words } from '../words.ts';
import { Icon } from './icon.tsx';
import { Search } from './search.tsx';

export interface Chip {
  key: string;
  /** The filtered property, for example `event`. */
  name: string;
  /** The operator, for example `is`, `is not` or `contains`. */
  relation?: string;
  value: string;
  remove: () => void;
}

/**
 * Shows a page's active filters in one line, each with a button that removes the filter. The list's buttons are at the
 * end of the line.
 */
export function Chips({
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

/** The search field of a list with the URL parameter `search`. Buttons are at the end of the line. */
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
    <Chips chips={[]} search={search}>
      {children}
    </Chips>
  );
}

/**
 * Shows which URL parameters are unknown and therefore ignored. Only plausible names are shown, because any site can
 * link to this page with any text.
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
