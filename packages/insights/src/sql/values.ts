// Converts values from an engine's format to the format of the API.

import { createTimeZone } from '@millrace/schedule';
import type { SqlType } from './types.ts';

export function valueReader(type: SqlType): (value: unknown) => unknown {
  const read = readerOf(type);
  return (value) => (value === null || value === undefined ? null : read(value));
}

function readerOf(type: SqlType): (value: unknown) => unknown {
  switch (type.kind) {
    case 'int':
    case 'interval':
      return Number;
    case 'float':
      return finite;
    case 'flag':
      return (value) => (value === true || value === 'true' || Number(value) === 1 ? 1 : 0);
    case 'bool':
      return (value) => value === true || value === 'true' || value === 1;
    case 'time': {
      const { toWallTime } = createTimeZone(type.zone ?? 'UTC');
      return (value) => isoTime(Number(value), toWallTime(Number(value)));
    }
    case 'array': {
      const element = valueReader(type.element ?? type);
      return (value) => parsed(value).map(element);
    }
    case 'tuple': {
      const parts = (type.parts ?? []).map(valueReader);
      return (value) => parsed(value).map((part, at) => parts[at]?.(part) ?? null);
    }
    case 'json':
      return (value) => String(value).replace(separators, '$1$2');
    default:
      return String;
  }
}

/** Matches strings, and the spaces that PostgreSQL prints between the tokens of a JSON document. */
const separators = /("[^"\\]*(?:\\.[^"\\]*)*")|([:,]) /g;

/** Replaces infinity and NaN with null, because JSON cannot contain them. */
function finite(value: unknown): number | null {
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

function parsed(value: unknown): unknown[] {
  const list: unknown = typeof value === 'string' ? JSON.parse(value) : value;
  return Array.isArray(list) ? list : [];
}

/** Formats a time in ISO 8601 with the offset of the time zone. A fraction of a second has six digits. */
function isoTime(instant: number, wall: number): string {
  const text = new Date(wall).toISOString();
  const millis = text.slice(20, 23);
  const fraction = millis === '000' ? '' : `.${millis}000`;
  return `${text.slice(0, 19)}${fraction}${offsetText((wall - instant) / 60_000)}`;
}

function offsetText(minutes: number): string {
  if (minutes === 0) return 'Z';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
}
