// Columns of an SQL result, and how their values are written.

import { formatNumber } from '../words.ts';

export type ColumnKind = 'number' | 'time' | 'date' | 'json' | 'text';

export interface Column {
  name: string;
  kind: ColumnKind;
}

const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/;
const isoDate = /^\d{4}-\d{2}-\d{2}$/;

/**
 * The columns of a result.
 * @param types pairs of a column and its ClickHouse type. Without them, the kind comes from the values.
 */
export function columnsOf(names: readonly string[], types: unknown, rows: readonly unknown[]): Column[] {
  const given = Array.isArray(types) ? types : [];
  return names.map((name, at) => {
    const type = Array.isArray(given[at]) ? String(given[at][1]) : null;
    return { name, kind: type === null ? kindOfValue(firstValue(rows, at)) : kindOfType(type) };
  });
}

function kindOfType(type: string): ColumnKind {
  const inner = /^Nullable\((.*)\)$/.exec(type)?.[1] ?? type;
  if (/^(U?Int|Float|Decimal)/.test(inner)) return 'number';
  if (inner.startsWith('DateTime')) return 'time';
  if (inner.startsWith('Date')) return 'date';
  return /^(Array|Tuple|Map)/.test(inner) ? 'json' : 'text';
}

function firstValue(rows: readonly unknown[], at: number): unknown {
  for (const row of rows) {
    const value = cellAt(row, at);
    if (value !== null) return value;
  }
  return null;
}

function kindOfValue(value: unknown): ColumnKind {
  if (typeof value === 'number') return 'number';
  if (typeof value === 'object' && value !== null) return 'json';
  if (typeof value !== 'string') return 'text';
  return isoTime.test(value) ? 'time' : isoDate.test(value) ? 'date' : 'text';
}

export const cellAt = (row: unknown, at: number): unknown => (Array.isArray(row) ? (row[at] ?? null) : null);

/** The local time of a value, as the server wrote it in its time zone: `2026-03-02 10:05:30`. */
export const localTime = (iso: string) => iso.slice(0, 19).replace('T', ' ');

/** A value in one line of a table. Null is shown by the caller. */
export function cellText(value: unknown, kind: ColumnKind): string {
  if (typeof value === 'number') return Number.isInteger(value) ? formatNumber(value) : String(value);
  if (typeof value === 'string') return kind === 'time' && isoTime.test(value) ? localTime(value) : value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The complete value, for copying. */
export const copyText = (value: unknown) =>
  value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);

/** JSON with line breaks, or null if a value is not a JSON object or list. */
export function prettyJson(value: unknown): string | null {
  if (typeof value === 'object' && value !== null) return JSON.stringify(value, null, 2);
  if (typeof value !== 'string' || !/^\s*[{[]/.test(value)) return null;
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return null;
  }
}
