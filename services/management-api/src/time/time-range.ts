// Declares and parses time ranges and time cursors of lists.

import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { parseTimeParameter } from './relative-time.ts';

const formats =
  'an ISO 8601 time (UTC unless it has an offset), or a relative time: `-24h`, `-7d`, `-2w`, `-1m` (months), `-1y`, `-5M` (minutes)';

/** Query parameters `after` and `before` for a list that is sorted by time. Both times are exclusive. */
export const timeRangeQuery = {
  after: Type.Optional(Type.String({ description: `Only results after this time: ${formats}.` })),
  before: Type.Optional(Type.String({ description: `Only results before this time: ${formats}.` })),
};

export interface TimeRange {
  after?: Date | undefined;
  before?: Date | undefined;
}

/** @throws AppError `invalid` naming `after` or `before` */
export function toTimeRange({ after, before }: { after?: string; before?: string }): TimeRange {
  const now = new Date();
  return {
    after: after === undefined ? undefined : parseTimeParameter(after, 'after', now),
    before: before === undefined ? undefined : parseTimeParameter(before, 'before', now),
  };
}

interface SpanLimits {
  /** Length of the range in milliseconds if the request does not specify `after`. */
  usualMs: number;
  maxMs: number;
  /** The maximum length as a phrase for the error message, for example `31 days`. */
  most: string;
}

/** A time range with exclusive bounds. By default, the range ends now. */
export interface TimeSpan {
  after: Date;
  before: Date;
}

/**
 * Parses a time range. Fills in a missing start or end.
 * @throws AppError `invalid` naming `after` or `before`, also if the range is empty or too long
 */
export function toTimeSpan(
  parameters: { after?: string; before?: string },
  { usualMs, maxMs, most }: SpanLimits,
): TimeSpan {
  const range = toTimeRange(parameters);
  const before = range.before ?? new Date();
  const after = range.after ?? new Date(before.getTime() - usualMs);
  if (after < firstMoment) {
    const attr = range.after === undefined ? 'before' : 'after';
    throw new AppError('invalid', 'The time range must not begin before the year 1000.', { attr });
  }
  if (before <= after) {
    const detail = '`after` must be earlier than `before`, which defaults to now.';
    throw new AppError('invalid', detail, { attr: 'after' });
  }
  if (before.getTime() - after.getTime() > maxMs) {
    throw new AppError('invalid', `The time range can be at most ${most}. Choose a shorter range.`, { attr: 'after' });
  }
  return { after, before };
}

/** Ranges cannot begin earlier. An earlier hour could be in a year that is written with a sign in some time zone. */
const firstMoment = new Date('1000-01-01T00:00:00Z');

/** Milliseconds since the epoch, from PostgreSQL's earliest time in 4713 BC to JavaScript's latest time. */
const milliseconds = Type.Integer({ minimum: -210_866_803_200_000, maximum: 8_640_000_000_000_000 });

/** Cursor for a list that is sorted by time and ID. Contains the time and ID of the page's last row. */
export const timePosition = Type.Object({ timestamp: milliseconds, id: Type.String({ format: 'uuid' }) });

export interface TimePosition {
  timestamp: Date;
  id: string;
}

/** Converts a position to the format that a cursor contains. */
export function encodeTimePosition({ timestamp, id }: TimePosition): { timestamp: number; id: string } {
  return { timestamp: timestamp.getTime(), id };
}

export function decodeTimePosition(position: { timestamp: number; id: string } | null): TimePosition | null {
  return position && { timestamp: new Date(position.timestamp), id: position.id };
}
