import type { ComponentProps } from 'react';
import type { SortableHeader } from '../parts/sort-head.tsx';

type HeadProps = Pick<ComponentProps<typeof SortableHeader>, 'direction' | 'onSort'>;

/**
 * Returns props for the header of a sortable column. The first press sorts in the column's usual direction.
 * @param order the list's sort order, with a leading `-` for descending
 */
export function getSortProps<Order extends string>(
  column: string,
  usual: Order,
  [order, onOrder]: [order: Order, onOrder: (order: Order) => void],
): HeadProps {
  const isOwn = order.replace('-', '') === column;
  const other = (usual.startsWith('-') ? usual.slice(1) : `-${usual}`) as Order;
  return {
    direction: isOwn ? (order.startsWith('-') ? 'descending' : 'ascending') : undefined,
    onSort: () => onOrder(order === usual ? other : usual),
  };
}
