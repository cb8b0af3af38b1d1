import { words } from '../words.ts';

/** A column header that sorts the table. Pressing it again reverses the order. */
export function SortHead({
  name,
  direction,
  className,
  onSort,
}: {
  name: string;
  /** The direction in which the table is sorted by this column. Absent while it is sorted by another one. */
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
