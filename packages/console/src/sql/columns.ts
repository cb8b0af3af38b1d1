// The columns of an SQL result, and the formatting of their values.

import { formatNumber } from '../words.ts';

export type ColumnKind = 'number' | 'time' | 'date' | 'json' | 'text';

export interface Column {
  name: string;
  kind: ColumnKind;
}

const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/;
const isoDate = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Returns a result's columns.
 * @param types the pairs of column name and ClickHouse type; by default, the type of a column depends on its values
 */
export function readColumns(names: readonly string[], types: unknown, rows: readonly unknown[]): Column[] {
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

/** Returns a time as it was in the server's time zone, such as `2026-03-02 10:05:30`. */
export const formatLocalTime = (iso: string) => iso.slice(0, 19).replace('T', ' ');

/** Formats a value in one line. The caller must handle null. */
export function formatCell(value: unknown, kind: ColumnKind): string {
  if (typeof value === 'number') return Number.isInteger(value) ? formatNumber(value) : String(value);
  if (typeof value === 'string') return kind === 'time' && isoTime.test(value) ? formatLocalTime(value) : value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export const formatForCopy = (value: unknown) =>
  value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);

/** Formats a JSON object or list with line breaks. Returns null for other values. */
export function formatPrettyJson(value: unknown): string | null {
  if (typeof value === 'object' && value !== null) return JSON.stringify(value, null, 2);
  if (typeof value !== 'string' || !/^\s*[{[]/.test(value)) return null;
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return null;
  }
}
