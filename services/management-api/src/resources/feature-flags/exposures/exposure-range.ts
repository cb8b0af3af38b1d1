import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { requireTime } from '../../../time/relative-time.ts';
import { findStartOfDay } from './exposure-store.ts';

export interface AskedRange {
  date_from: string;
  date_to?: string | undefined;
}

/** An experiment runs for some weeks; all of these events are looked through. */
export const mostDays = 92;
const dayMs = 86_400_000;
const day = /^\d{4}-\d{2}-\d{2}$/;

/**
 * The time that is asked for. A day is one of the project's time zone, and the last one is counted in.
 * @throws AppError `invalid` naming `date_from` or `date_to`.
 */
export async function exposureRange(sql: Sql, asked: AskedRange, timeZone: string): Promise<{ from: Date; to: Date }> {
  const now = new Date();
  const read = async (field: keyof AskedRange, text: string, daysLater: number): Promise<Date> => {
    const time = requireTime(text, field, now);
    if (!day.test(text)) return time;
    const wanted = new Date(time.getTime() + daysLater * dayMs).toISOString().slice(0, 10);
    return (await findStartOfDay(sql, wanted, timeZone)) ?? time;
  };
  const from = await read('date_from', asked.date_from, 0);
  const to = asked.date_to === undefined ? now : await read('date_to', asked.date_to, 1);
  if (to <= from) throw refusal('date_to', 'date_to lies before date_from.');
  // An hour more: a day may have 25.
  if (to.getTime() - from.getTime() > mostDays * dayMs + 3_600_000) {
    throw refusal('date_from', `At most ${mostDays} days at once. Ask for a shorter time.`);
  }
  return { from, to };
}

function refusal(attr: string, message: string): AppError {
  return new AppError('invalid', message, { code: 'invalid_input', attr });
}
