import type { Pool } from 'pg';
import type { ClientLoad } from './client-load.ts';
import { awaitStored, misorderedEvents } from './stored-events.ts';

/** What was acknowledged, compared with what is stored. */
export interface LoadVerdict {
  acknowledged: number;
  refused: number;
  /** Also of what was sent and not acknowledged. */
  stored: number;
  /** Acknowledged and not stored. */
  lost: number;
  /** Stored more than once. */
  doubled: number;
  /** Took effect before one of the same distinct id that had been acknowledged, or sent in the same request, before it. */
  misordered: number;
}

/** To be asked when the load has stopped. @param options as for `awaitStored`; `name` is the load's */
export async function judgeLoad(
  { sent, acknowledged, refused }: ClientLoad,
  database: Pool,
  { name, patienceMs }: { name: string; patienceMs?: number },
): Promise<LoadVerdict> {
  const stored = await awaitStored(database, acknowledged, { name: `${name}-`, patienceMs });
  const countOf = (uuids: ReadonlySet<string>, fits: (times: number) => boolean) =>
    [...uuids].filter((uuid) => fits(stored.get(uuid) ?? 0)).length;
  return {
    ...{ acknowledged: acknowledged.size, refused },
    stored: countOf(sent, (times) => times > 0),
    lost: countOf(acknowledged, (times) => times === 0),
    doubled: countOf(sent, (times) => times > 1),
    misordered: await misorderedEvents(database, name),
  };
}

export const isWell = ({ lost, doubled, misordered }: LoadVerdict): boolean => lost + doubled + misordered === 0;
