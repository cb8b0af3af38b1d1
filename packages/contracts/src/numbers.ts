// Formats the numbers of insights, with the same rules for headlines, tables, charts, tooltips and reports. Exported
// files contain unformatted numbers.

export interface NumberFormat {
  /** The meaning of the number. `percent` is a number from 0 to 100, and `share` is a number from 0 to 1. */
  kind: 'number' | 'short' | 'percent' | 'share' | 'seconds' | 'milliseconds' | 'currency';
  prefix?: string;
  postfix?: string;
  /** Maximum number of decimals. If undefined, `formatValue` chooses the number of decimals. */
  decimals?: number;
  leastDecimals?: number;
  isIncreaseBad?: boolean;
}

export const plainFormat: NumberFormat = { kind: 'number' };
export const percentFormat: NumberFormat = { kind: 'percent' };

/** Maps PostHog's format names in `trendsFilter.aggregationAxisFormat` to kinds. */
const kinds: Record<string, NumberFormat['kind']> = {
  numeric: 'number',
  short: 'short',
  percentage: 'percent',
  percentage_scaled: 'share',
  duration: 'seconds',
  duration_ms: 'milliseconds',
  currency: 'currency',
};

/** Returns the number format of a query. @param source the query, without the node that contains display settings */
export function readNumberFormat(source: Readonly<Record<string, unknown>> | null): NumberFormat {
  if (source?.kind === 'FunnelsQuery') return percentFormat;
  const { trendsFilter: filter } = source ?? {};
  if (typeof filter !== 'object' || filter === null) return plainFormat;
  const stored = filter as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, 20) : '');
  const places = (value: unknown) =>
    Number.isInteger(value) && (value as number) >= 0 ? Math.min(value as number, 10) : null;
  const [prefix, postfix] = [text(stored.aggregationAxisPrefix), text(stored.aggregationAxisPostfix)];
  const [decimals, least] = [places(stored.decimalPlaces), places(stored.minDecimalPlaces)];
  return {
    kind: kinds[text(stored.aggregationAxisFormat)] ?? 'number',
    ...(prefix !== '' && { prefix }),
    ...(postfix !== '' && { postfix }),
    ...(decimals !== null && { decimals }),
    ...(least !== null && { leastDecimals: least }),
    ...(stored.isIncreaseBad === true && { isIncreaseBad: true }),
  };
}

const formats = new Map<string, Intl.NumberFormat>();

function written(value: number, most: number, least = 0, notation?: 'compact'): string {
  const key = `${most} ${least} ${notation}`;
  let format = formats.get(key);
  if (format === undefined) {
    const digits = { maximumFractionDigits: Math.max(most, least), minimumFractionDigits: least };
    format = new Intl.NumberFormat('en', notation === undefined ? digits : { ...digits, notation });
    formats.set(key, format);
  }
  // Avoid showing -0.001 as `-0`.
  const shown = format.format(value);
  return /[1-9∞]/.test(shown) ? shown : shown.replace(/^-/, '');
}

/**
 * Formats a value, for example `2,415`, `22.14`, `16,562`, `29.0%` or `1 d 3 h`. Values of 1,000 and more have no
 * decimals, unless the insight sets the number of decimals.
 */
export function formatValue(
  value: number,
  { prefix = '', postfix = '', ...format }: NumberFormat = plainFormat,
): string {
  return `${prefix}${unitText(value, format)}${postfix}`;
}

function unitText(value: number, { kind, decimals, leastDecimals = 0 }: NumberFormat): string {
  switch (kind) {
    case 'number':
      return written(value, decimals ?? (Math.abs(value) < 1000 ? 2 : 0), leastDecimals);
    case 'currency':
      return written(value, decimals ?? 2, decimals ?? 2);
    case 'short':
      return written(value, 1, 0, 'compact');
    case 'percent':
      return formatPercent(value, decimals);
    case 'share':
      return formatPercent(value * 100, decimals);
    case 'seconds':
      return formatDuration(value);
    case 'milliseconds':
      return formatDuration(value / 1000);
  }
}

/** Formats an axis label in compact notation. */
export function formatTick(value: number, format: NumberFormat = plainFormat): string {
  const { kind, prefix = '', postfix = '' } = format;
  if (kind === 'percent' || kind === 'share')
    return `${prefix}${written(kind === 'share' ? value * 100 : value, 2)}%${postfix}`;
  if (kind === 'seconds' || kind === 'milliseconds') return formatValue(value, format);
  return `${prefix}${written(value, Math.abs(value) < 1 ? 4 : 1, 0, 'compact')}${postfix}`;
}

/**
 * Formats a percentage, for example `29.0%`, `25.8%`, `0%` or `100%`. Percentages between 0 and 100 have one decimal.
 * @param percent the percentage, from 0 to 100
 */
export function formatPercent(percent: number, decimals?: number): string {
  if (decimals !== undefined) return `${written(percent, decimals, decimals)}%`;
  const size = Math.abs(percent);
  if (size === 0) return '0%';
  if (size < 0.05) return `${percent < 0 ? '−' : ''}<0.1%`;
  return size < 99.95 ? `${written(percent, 1, 1)}%` : `${written(percent, 0)}%`;
}

const units = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** Formats a duration in its two largest units, for example `350 ms`, `4.5 s`, `1 min`, `1 min 30 s` or `1 d 3 h`. */
export function formatDuration(seconds: number): string {
  const sign = seconds < 0 ? '−' : '';
  const size = Math.abs(seconds);
  if (size === 0) return '0 s';
  if (size < 0.9995) return `${sign}${written(size * 1000, size < 0.01 ? 1 : 0)} ms`;
  if (size < 9.95) return `${sign}${written(size, 1)} s`;
  for (const [at, [name, length]] of units.entries()) {
    const [less, lesser = 1] = units[at + 1] ?? [];
    // Round to the smaller unit first, so that 3,599.9 seconds become one hour instead of 60 minutes.
    const whole = Math.round(size / lesser) * lesser;
    if (whole < length) continue;
    const first = Math.floor(whole / length);
    const second = Math.round((whole - first * length) / lesser);
    return `${sign}${written(first, 0)} ${name}${less !== undefined && second > 0 ? ` ${second} ${less}` : ''}`;
  }
  return `${sign}${Math.round(size)} s`;
}

const isPercent = ({ kind }: NumberFormat) => kind === 'percent' || kind === 'share';

/**
 * Returns the change as a percentage of the previous value, or in percentage points if the values are percentages.
 * Returns null if there is no previous value.
 */
export function computeChange(now: number, before: number | null, format: NumberFormat = plainFormat): number | null {
  if (before === null) return null;
  if (isPercent(format)) return (now - before) * (format.kind === 'share' ? 100 : 1);
  return before === 0 ? null : ((now - before) / Math.abs(before)) * 100;
}

/** Formats a change, for example `+12.5%`, `−3.0%`, `+2.5 points` for percentages, or `–` for null. */
export function formatChange(change: number | null, format: NumberFormat = plainFormat): string {
  if (change === null) return '–';
  const sign = change > 0 ? '+' : change < 0 ? '−' : '';
  const size = Math.abs(change);
  return `${sign}${isPercent(format) ? `${written(size, 1)} points` : formatPercent(size)}`;
}

/** Returns whether a change is an improvement, or null if it is neither good nor bad. */
export function isGoodChange(
  change: number | null,
  { isIncreaseBad = false }: Pick<NumberFormat, 'isIncreaseBad'>,
): boolean | null {
  return change === null || change === 0 ? null : change > 0 !== isIncreaseBad;
}

export interface SeriesTotals {
  data?: readonly number[] | null;
  count?: number;
  aggregated_value?: number;
  /** What the series counts, or null for a formula. */
  action?: { math?: string | null } | null;
}

/**
 * Returns the value of a series at an index. Returns null for an interval of a funnel trend that no actor entered,
 * because the interval has no conversion rate.
 */
export const seriesValueAt = (
  { data, entered }: { data?: readonly number[] | null; entered?: readonly number[] },
  at: number,
): number | null => (entered?.[at] === 0 ? null : (data?.[at] ?? 0));

/** The kinds of math whose results can be added up over time, unlike unique users, averages and formulas. */
const sums = new Set([null, undefined, 'total', 'sum']);

/**
 * Returns one number for the whole range: the total, or the average if the values cannot be added up.
 * @param isCumulative whether each value includes all earlier ones
 */
export function computeOverallValue(
  { aggregated_value: total, count, data, action }: SeriesTotals,
  isCumulative: boolean,
): { value: number; isAverage: boolean } {
  if (total !== undefined) return { value: total, isAverage: false };
  const numbers = data ?? [];
  const sum = count ?? numbers.reduce((all, one) => all + one, 0);
  const isAverage = !isCumulative && (action === null || !sums.has(action?.math)) && numbers.length > 0;
  return { value: isAverage ? sum / numbers.length : sum, isAverage };
}
