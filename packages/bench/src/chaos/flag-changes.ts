import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { FlagReply } from './flag-load.ts';

export const changedKeys = { toggled: 'toggled', counted: 'counted' } as const;

/** Two flags change together: one is turned off and on, the other says in its payload how often that was. */
export async function toggleFlags(
  database: pg.Pool,
  environmentId: number,
  { times, pauseMs }: { times: number; pauseMs: number },
): Promise<number[]> {
  const answeredAt = [performance.now()];
  for (let count = 1; count <= times; count += 1) {
    await sleep(pauseMs);
    await database.query(
      `UPDATE feature_flag
          SET active = CASE WHEN key = $2 THEN $4 ELSE active END,
              filters = CASE WHEN key = $3 THEN jsonb_set(filters, '{payloads,true}', to_jsonb($5::text)) ELSE filters END,
              version = version + 1
        WHERE project_id = $1 AND key IN ($2, $3)`,
      [environmentId, changedKeys.toggled, changedKeys.counted, count % 2 === 0, String(count)],
    );
    answeredAt.push(performance.now());
  }
  return answeredAt;
}

export interface Staleness {
  /** How long before the question the change was answered that the answer does not show yet; the longest. */
  longestMs: number;
  /** Answers older than they may be. */
  stale: number;
  /** Answers that show one flag before a change and the other after it. */
  torn: number;
}

const mayBeOldForMs = 1000;

/** @param answeredAt by count: when that change was answered. */
export function measureStaleness(replies: readonly FlagReply[], answeredAt: readonly number[]): Staleness {
  const result: Staleness = { longestMs: 0, stale: 0, torn: 0 };
  for (const { askedAt, flags } of replies) {
    const count = Number(flags[changedKeys.counted]?.metadata.payload ?? Number.NaN);
    if (Number.isNaN(count) || changedKeys.toggled in flags !== (count % 2 === 0)) result.torn += 1;
    const ageMs = askedAt - (answeredAt[count + 1] ?? Number.POSITIVE_INFINITY);
    result.longestMs = Math.max(result.longestMs, ageMs);
    if (ageMs > mayBeOldForMs) result.stale += 1;
  }
  return result;
}
