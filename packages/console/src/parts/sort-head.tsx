import { words } from '../words.ts';

/** A column header that sorts the table. Pressing the header again reverses the order. */
export function SortableHeader({
  name,
  direction,
  className,
  onSort,
}: {
  name: string;
  /** The sort direction. Undefined if the table is sorted by another column. */
  direction: 'ascending' | 'descending' | undefined;
  className?: string;
  onSort: () => void;
}) {
  return (
    <th className={className} aria-sort={direction ?? 'none'}>
      <button type="button" className="sort-head" title={words.sortBy(name)} onClick={onSort}>
        {name}
        <span aria-hidden="true">{direction === undefined ? '' : direction === 'ascending' ? '↑' : '↓'}</span>
      </button>
    </th>
  );
}
