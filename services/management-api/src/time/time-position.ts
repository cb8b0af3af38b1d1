import { Type } from 'typebox';

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
