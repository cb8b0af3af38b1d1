// Prints local times and the starts of local days for PostgreSQL. PostgreSQL's functions look up the name of the time
// zone for each row, which takes ten times as long as adding an offset. The statement therefore contains the offsets of
// some years, and calls the functions only for times outside of these years.

import { listOffsetSpans, type OffsetSpan } from '@millrace/schedule';
import { type Fragment, sql } from '../../event-store/sql.ts';
import type { Expression } from '../tree.ts';
import type { Printing } from './context.ts';

const units = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
type Unit = keyof typeof units;
const strides: Record<Unit, Fragment> = {
  minute: sql`interval '1 minute'`,
  hour: sql`interval '1 hour'`,
  day: sql`interval '1 day'`,
};

/** Prints the local time of an instant, without a time zone. */
export function localTime(value: Expression, printing: Printing): Fragment {
  const x = printing.expression(value);
  const zone = value.type.zone ?? 'UTC';
  if (zone === 'UTC') return sql`(${x} AT TIME ZONE interval '0')`;
  const inZone = sql`(${x} AT TIME ZONE ${printing.bind('text', zone)})`;
  if (!isColumn(value)) return inZone;
  const spans = spansOf(zone);
  const bounds = [...spans.map(({ from }) => from), spans.at(-1)?.to ?? 0];
  const seconds = spans.map(({ offset }) => offset / 1000);
  const place = sql`width_bucket(${x}, ${printing.bind('times', bounds)})`;
  const offset = sql`make_interval(secs => (${printing.bind('floats', seconds)})[${place}])`;
  return sql`coalesce(${x} AT TIME ZONE ${offset}, ${inZone})`;
}

/** Prints the start of the local day, hour or minute of an instant. */
export function startOfUnit(value: Expression, unit: Unit, printing: Printing): Fragment {
  const otherwise = (x: Fragment, zone: Fragment) => sql`date_trunc(${printing.bind('text', unit)}, ${x}, ${zone})`;
  return binned(value, { unit, stride: strides[unit], otherwise }, printing);
}

/** Prints the start of an interval of several minutes. Intervals are counted from the start of the local day. */
export function startOfMinutes(value: Expression, minutes: Expression, printing: Printing): Fragment {
  const count = printing.expression(minutes);
  const local = localTime(value, printing);
  const sinceMidnight = sql`extract(epoch FROM ${local} - date_trunc('day', ${local}))`;
  const otherwise = (x: Fragment, zone: Fragment) =>
    sql`(date_trunc('day', ${x}, ${zone}) + make_interval(mins => (floor(${sinceMidnight} / 60 / ${count}) * ${count})::int))`;
  const dividesDay = minutes.is === 'constant' && 1440 % Number(minutes.value) === 0;
  const stride = sql`make_interval(mins => (${count})::int)`;
  return binned(value, { unit: 'day', stride: dividesDay ? stride : null, otherwise }, printing);
}

interface Bins {
  /** The first bin begins at the start of this unit. */
  unit: Unit;
  /** Length of a bin. Null if the bins have different lengths. */
  stride: Fragment | null;
  /** Prints the start of the bin with PostgreSQL's own functions, which are slower. */
  otherwise(x: Fragment, zone: Fragment): Fragment;
}

function binned(value: Expression, { unit, stride, otherwise }: Bins, printing: Printing): Fragment {
  const x = printing.expression(value);
  const zone = value.type.zone ?? 'UTC';
  if (stride === null) return otherwise(x, printing.bind('text', zone));
  if (zone === 'UTC') return sql`date_bin(${stride}, ${x}, timestamptz 'epoch')`;
  if (!isColumn(value)) return otherwise(x, printing.bind('text', zone));
  const { bounds, origins } = binsOf(spansOf(zone), units[unit]);
  const place = sql`width_bucket(${x}, ${printing.bind('times', bounds)})`;
  return sql`coalesce(date_bin(${stride}, ${x}, (${printing.bind('times', origins)})[${place}]), ${otherwise(x, printing.bind('text', zone))})`;
}

/**
 * Returns whether a value is a column, even if its time zone was changed. The SQL repeats only columns, because
 * PostgreSQL would compute all other expressions each time they occur.
 */
function isColumn(value: Expression): boolean {
  if (value.is === 'cast') return value.value.type.kind === 'time' && isColumn(value.value);
  return value.is === 'column' && value.isStored === true && value.isProperty !== true;
}

/**
 * Returns a list of bounds and, for the times that follow each bound, the start of a bin (`origins`). An origin is null
 * between a change of the UTC offset and the start of the next unit, because the bin there began before the change.
 */
function binsOf(spans: readonly OffsetSpan[], length: number): { bounds: number[]; origins: (number | null)[] } {
  const bounds: number[] = [];
  const origins: (number | null)[] = [];
  for (const { from, offset } of spans) {
    const start = Math.ceil((from + offset) / length) * length - offset;
    if (start > from) {
      bounds.push(from);
      origins.push(null);
    }
    bounds.push(start);
    origins.push(start);
  }
  return { bounds: [...bounds, spans.at(-1)?.to ?? 0], origins };
}

const known = new Map<string, { year: number; spans: OffsetSpan[] }>();

/** Returns the offsets of a time zone from three years ago to the end of next year. */
function spansOf(zone: string): OffsetSpan[] {
  const year = new Date().getUTCFullYear();
  const found = known.get(zone);
  if (found?.year === year) return found.spans;
  const spans = listOffsetSpans(zone, { from: Date.UTC(year - 3, 0, 1), to: Date.UTC(year + 2, 0, 1) });
  known.set(zone, { year, spans });
  return spans;
}
