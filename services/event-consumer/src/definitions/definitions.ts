import type { SqlDatabase } from '@millrace/db/sql';
import type { Logger, Stoppable } from '@millrace/runtime';
import { describeFailure } from '../failures/describe-failure.ts';
import type { EventRow } from '../model/event-row.ts';
import type { Ledger } from '../model/ledger.ts';
import {
  type EventDefinition,
  type PropertyDefinition,
  upsertEventDefinitions,
  upsertPropertyDefinitions,
} from './definition-store.ts';
import { createLooks } from './looks.ts';
import { createNotedNames, eventKey, markOf, propertyKey } from './noted-names.ts';
import { type SeenDefinitions, seeDefinitions } from './see-definitions.ts';

export interface Definitions extends Stoppable {
  /** Reads some rows of a batch, with the ledger it was decided on. Costs little, writes nothing. */
  see(rows: readonly EventRow[], ledger: Ledger): SeenDefinitions;
  /** To be told once the batch is committed. */
  note(seen: SeenDefinitions): void;
  /** What was written may not be there any more: the next events bring it again. */
  forgetAll(): void;
  /** Writes what was noted; never throws. */
  flush(): Promise<void>;
}

export interface DefinitionsOptions {
  database: Pick<SqlDatabase, 'transaction'>;
  logger: Logger;
  now: () => number;
  /** Between two writes. 0 = only when told to. */
  flushIntervalMs?: number;
}

/** Names waiting to be written; more of them at once come from a client that puts data into names. */
const maxPending = 20_000;
/**
 * Keeps which event names and properties each project sends (docs/ingestion-rules.md#definitions). From a sample:
 * the first event of every name in a batch, for some batches of each minute, and some of the others; each name is written
 * once an hour at most, beside the batches' transactions, so a crash can lose the last seconds of it, and the next event of
 * the kind brings it back.
 */
export function createDefinitions({ database, logger, now, flushIntervalMs = 5000 }: DefinitionsOptions): Definitions {
  const noted = createNotedNames();
  const looks = createLooks();
  const events = new Map<string, EventDefinition>();
  const properties = new Map<string, PropertyDefinition>();
  let flushing: Promise<void> = Promise.resolve();

  function note(seen: SeenDefinitions): void {
    const nowMs = now();
    for (const one of seen.events) {
      const key = eventKey(one.projectId, one.name);
      if (noted.add(key, markOf(nowMs, true))) events.set(key, one);
    }
    for (const one of seen.properties) noteProperty(one, nowMs);
  }

  function noteProperty(definition: PropertyDefinition, nowMs: number): void {
    const { propertyType } = definition;
    const key = propertyKey(definition);
    if (properties.size >= maxPending || !noted.add(key, markOf(nowMs, propertyType !== null))) return;
    const waiting = properties.get(key);
    properties.set(key, { ...definition, propertyType: waiting?.propertyType ?? propertyType });
  }

  async function write(): Promise<void> {
    const eventList = [...events];
    const propertyList = [...properties];
    if (eventList.length === 0 && propertyList.length === 0) return;
    events.clear();
    properties.clear();
    try {
      await database.transaction(async (tx) => {
        await upsertEventDefinitions(
          tx,
          Array.from(eventList, ([, one]) => one),
        );
        await upsertPropertyDefinitions(
          tx,
          Array.from(propertyList, ([, one]) => one),
        );
      });
    } catch (error) {
      logger.warn('definitions could not be written; they come again with the next events', describeFailure(error));
      for (const [key] of [...eventList, ...propertyList]) noted.forget(key);
    }
  }

  function flush(): Promise<void> {
    flushing = flushing.then(write);
    return flushing;
  }

  const timer = flushIntervalMs > 0 ? setInterval(() => void flush(), flushIntervalMs) : undefined;
  timer?.unref();
  return {
    see: (rows, ledger) => seeDefinitions(rows, ledger, { looks, noted, nowMs: now() }),
    note,
    forgetAll: noted.forgetAll,
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
