// The date ranges of queries and dashboards: their formats, and the field for choosing one.

import { escapeInvisible } from '../event-detail/json-text.ts';
import { Select } from './select.tsx';
import { text } from './words.ts';

/** A date range in the stored format of queries and dashboards: relative (`-14d`, `mStart`) or absolute times. */
export interface DateRange {
  date_from?: unknown;
  date_to?: unknown;
}

const words = text.ranges;
const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

/** Encodes a date range as a string, which identifies the range in option lists and page URLs. */
export const toRangeKey = ({ date_from: from, date_to: to }: DateRange) =>
  [textOf(from), textOf(to)].join('|').replace(/\|$/, '');

export function parseRangeKey(key: string): { date_from: string; date_to?: string } {
  const [from = '', to = ''] = key.split('|');
  return to === '' ? { date_from: from } : { date_from: from, date_to: to };
}

const relative = /^-?(\d{1,5})?([sMhdwmqy])(Start|End)?$/;
const absolute = /^\d{4}-\d{2}-\d{2}/;

export const isRangeKey = (key: string) =>
  key === 'all' || key.split('|').every((time) => relative.test(time) || absolute.test(time));

/** Formats a date range, for example as `Last 14 days`, `This month` or `2026-11-01 to 2026-11-15`. */
export function formatRange(range: DateRange): string {
  const key = toRangeKey(range);
  const { date_from: from, date_to: to = '' } = parseRangeKey(key);
  if (Object.hasOwn(words.presets, key)) return words.presets[key as keyof typeof words.presets];
  const [, count, unit = '', edge] = relative.exec(from) ?? [];
  if (to === '' && count !== undefined && edge === undefined) return words.last(Number(count), unit);
  return to === '' ? words.since(nameOfTime(from)) : words.between(nameOfTime(from), nameOfTime(to));
}

function nameOfTime(time: string): string {
  const [match, count = '0', unit = '', edge] = relative.exec(time) ?? [];
  if (match === undefined) return escapeInvisible(time.replace('T', ' '));
  return words.time(Number(count), unit, edge);
}

/** Returns whether both ends of the range are dates without times, so that date fields can show them. */
function isOfDays(range: DateRange): boolean {
  const isDay = (time: unknown) => /^\d{4}-\d{2}-\d{2}$/.test(textOf(time));
  return isDay(range.date_from) && (textOf(range.date_to) === '' || isDay(range.date_to));
}

/**
 * Returns the selected option and all options for a date range: the presets, the saved range if it is not a preset, and
 * a custom range between two days.
 */
export function listRangeOptions(range: DateRange): { value: string; options: Record<string, string> } {
  const key = toRangeKey(range);
  const isCustom = isOfDays(range);
  const isOther = key !== '' && !isCustom && !Object.hasOwn(words.presets, key);
  return {
    value: isCustom ? 'custom' : key,
    options: { ...(isOther && { [key]: formatRange(range) }), ...words.presets, custom: words.custom },
  };
}

export const parseRangeOption = (option: string): DateRange =>
  option === 'custom' ? { date_from: daysAgo(7), date_to: daysAgo(0) } : parseRangeKey(option);

interface FieldsProps {
  range: DateRange;
  onRange: (range: DateRange) => void;
}

/**
 * A field for choosing a date range. A range that is not a preset has its own option, so that it is kept until the user
 * changes it.
 */
export function DateRangeFields({ range, onRange }: FieldsProps) {
  const { value, options } = listRangeOptions(range);
  return (
    <>
      <Select
        label={words.label}
        value={value || '-7d'}
        options={options}
        onChoose={(chosen) => onRange(parseRangeOption(chosen))}
      />
      <DayFields range={range} onRange={onRange} />
    </>
  );
}

export function DayFields({ range, onRange }: FieldsProps) {
  if (!isOfDays(range)) return null;
  return (['date_from', 'date_to'] as const).map((name) => (
    <input
      key={name}
      className="input"
      type="date"
      aria-label={name === 'date_from' ? words.from : words.to}
      value={textOf(range[name])}
      min={name === 'date_to' ? textOf(range.date_from) : undefined}
      // The field's value is empty while the date is incomplete, so change the range only when the date is complete.
      onChange={({ target }) => target.value !== '' && onRange({ ...range, [name]: target.value })}
    />
  ));
}

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
