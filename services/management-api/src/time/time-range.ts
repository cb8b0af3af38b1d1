// Spans and positions in time, as lists take them.

import { Type } from 'typebox';
import { requireTime } from './relative-time.ts';

const formats =
  'ISO 8601 (without an offset UTC), or a time ago: `-24h`, `-7d`, `-2w`, `-1m` (months), `-1y`, `-5M` (minutes)';

/** `after` and `before` of a list ordered by time, both exclusive. */
export const timeRangeQuery = {
  after: Type.Optional(Type.String({ description: `Only what is later than this time: ${formats}.` })),
  before: Type.Optional(Type.String({ description: `Only what is earlier than this time: ${formats}.` })),
};

export interface TimeRange {
  after?: Date | undefined;
  before?: Date | undefined;
}

/** @throws AppError `invalid` naming `after` or `before`. */
export function toTimeRange({ after, before }: { after?: string; before?: string }): TimeRange {
  const now = new Date();
  return {
    after: after === undefined ? undefined : requireTime(after, 'after', now),
    before: before === undefined ? undefined : requireTime(before, 'before', now),
  };
}

/** From 4713 BC, where PostgreSQL's time begins, to the last moment JavaScript knows; milliseconds since 1970. */
const milliseconds = Type.Integer({ minimum: -210_866_803_200_000, maximum: 8_640_000_000_000_000 });

/** Cursor of a list ordered by time and id: both of the last row shown. */
export const timePosition = Type.Object({ timestamp: milliseconds, id: Type.String({ format: 'uuid' }) });

export interface TimePosition {
  timestamp: Date;
  id: string;
}

export function toTimePosition(position: { timestamp: number; id: string } | null): TimePosition | null {
  return position && { timestamp: new Date(position.timestamp), id: position.id };
}
