import type { Frequency, RecurrenceRule, Weekday } from './recurrence-rule.ts';

const units: Record<Frequency, string> = { daily: 'day', weekly: 'week', monthly: 'month', yearly: 'year' };
const ordinals: Record<number, string> = { 1: 'first', 2: 'second', 3: 'third', 4: 'fourth', [-1]: 'last' };

/** A rule in plain words, as existing clients know them (docs/api-rules.md#dates-of-delivery). */
export function describeRule({
  frequency,
  interval,
  byweekday,
  bysetpos,
}: Pick<RecurrenceRule, 'frequency' | 'interval' | 'byweekday' | 'bysetpos'>): string {
  const unit = units[frequency];
  const every = `sent every ${interval > 1 ? `${interval} ${unit}s` : unit}`;
  if (!byweekday?.length || bysetpos === null) return every;
  const ordinal = ordinals[bysetpos];
  return ordinal === undefined ? 'sent on a schedule' : `${every} on the ${ordinal} ${dayWord(byweekday)}`;
}

function dayWord(byweekday: readonly Weekday[]): string {
  const [only, ...others] = byweekday;
  return only !== undefined && others.length === 0 ? only.charAt(0).toUpperCase() + only.slice(1) : 'day';
}
