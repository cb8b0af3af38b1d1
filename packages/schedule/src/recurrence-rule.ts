export const frequencies = ['daily', 'weekly', 'monthly', 'yearly'] as const;
export type Frequency = (typeof frequencies)[number];

/** Monday first, as weeks begin here (docs/api-rules.md#dates-of-delivery). */
export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export type Weekday = (typeof weekdays)[number];

/** When something happens again and again: the part of RFC 5545 a subscription can say. */
export interface RecurrenceRule {
  frequency: Frequency;
  /** Every how many days, weeks, months or years; at least 1. */
  interval: number;
  /** Null or empty: the day follows from `startDate`. */
  byweekday: readonly Weekday[] | null;
  /** The n-th day of each period's set, from its end when negative. Without weekdays it means nothing. */
  bysetpos: number | null;
  /** How many times in all, counted from `startDate`. */
  count: number | null;
  /** Also the time of day. Fractions of a second are dropped. */
  startDate: Date;
  /** The last moment at which it may happen. */
  untilDate: Date | null;
}
