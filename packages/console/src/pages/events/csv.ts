import { call, type Query } from '../../api/request.ts';
import type { ListedEvent } from './list.tsx';

/** More rows than these no table program opens with pleasure; an export has no end. */
export const mostRows = 10_000;

/**
 * Every event of a view, page by page, as a file.
 * @param onRows told how many there are so far
 * @returns whether more events exist than the file has
 */
export async function readCsv(
  request: { path: string; query: Query },
  { columns, signal, onRows }: { columns: readonly string[]; signal: AbortSignal; onRows: (count: number) => void },
): Promise<{ csv: string; isCut: boolean }> {
  const lines = [['timestamp', 'event', 'distinct_id', 'person', 'uuid', ...columns, 'properties']];
  let cursor: string | undefined;
  do {
    const page: { results: ListedEvent[]; next: string | null } = await call(
      { path: request.path, query: { ...request.query, limit: 500, cursor } },
      signal,
    );
    for (const { timestamp, event, distinct_id: distinctId, person, uuid, properties } of page.results) {
      const chosen = columns.map((name) => asText(properties[name]));
      lines.push([timestamp, event, distinctId, person.uuid, uuid, ...chosen, JSON.stringify(properties)]);
    }
    onRows(lines.length - 1);
    cursor = cursorOf(page.next);
  } while (cursor !== undefined && lines.length <= mostRows);
  return { csv: lines.map((line) => `${line.map(cell).join(',')}\r\n`).join(''), isCut: cursor !== undefined };
}

/** The position in the address of the next page. */
export const cursorOf = (next: string | null) =>
  next === null ? undefined : (new URL(next, location.origin).searchParams.get('cursor') ?? undefined);

const asText = (value: unknown) =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** Table programs run what begins like a formula; a plain number is none. */
function cell(value: string): string {
  const isFormula = /^[=+\-@\t\r]/.test(value) && !/^[+-]?\d+(\.\d+)?$/.test(value);
  return `"${(isFormula ? `'${value}` : value).replaceAll('"', '""')}"`;
}

export function save(name: string, csv: string): void {
  // The mark tells table programs that it is UTF-8.
  const address = URL.createObjectURL(new Blob(['\ufeff', csv], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
