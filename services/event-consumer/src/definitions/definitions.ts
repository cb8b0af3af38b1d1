import type { SqlDatabase } from '@millrace/db/sql';
import type { Logger, Stoppable } from '@millrace/runtime';
import { LRUCache } from 'lru-cache';
import { describeFailure } from '../failures/describe-failure.ts';
import type { EventRow } from '../model/event-row.ts';
import type { Ledger } from '../model/ledger.ts';
import { textHash53 } from '../values/text-hash.ts';
import {
  type EventDefinition,
  type PropertyDefinition,
  upsertEventDefinitions,
  upsertPropertyDefinitions,
} from './definition-store.ts';
import { findDefinitions, isDescribable } from './find-definitions.ts';

/** What was found in a batch. */
export interface SeenDefinitions {
  events: EventDefinition[];
  properties: PropertyDefinition[];
}

export interface Definitions extends Stoppable {
  /** Reads some rows of a batch, with the ledger it was decided on. Costs little, writes nothing. */
  see(rows: readonly EventRow[], ledger: Ledger): SeenDefinitions;
  /** To be told once the batch is committed. */
  note(seen: SeenDefinitions): void;
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

const hourMs = 3_600_000;
/** Names this process remembers to have written; about 80 bytes each. */
const maxRemembered = 100_000;
/** Names waiting to be written; more of them at once come from a client that puts data into names. */
const maxPending = 20_000;
/**
 * In so many batches a minute, the first event of each name is searched for properties. When many projects share a
 * batch, nearly every event is the first of its name, and searching one costs more than half as much as storing it.
 */
const looksPerMinute = 2;
/** Besides, one event in so many of every batch is searched. */
const sampleEvery = 64;
const minuteMs = 60_000;

/**
 * Keeps which event names and properties each project sends (docs/ingestion-rules.md#definitions). From a sample:
 * the first event of every name in a batch, for some batches of each minute, and some of the others; each name is written
 * once an hour at most, beside the batches' transactions, so a crash can lose the last seconds of it, and the next event of
 * the kind brings it back.
 */
export function createDefinitions({ database, logger, now, flushIntervalMs = 5000 }: DefinitionsOptions): Definitions {
  /** By the hash of a name's key: the hour in which it was last noted, and whether its type was known. */
  const noted = new LRUCache<number, number>({ max: maxRemembered });
  const events = new Map<string, EventDefinition>();
  const properties = new Map<string, PropertyDefinition>();
  const looks = createLooks();
  let flushing: Promise<void> = Promise.resolve();

  function see(rows: readonly EventRow[], ledger: Ledger): SeenDefinitions {
    const nowMs = now();
    const hour = Math.floor(nowMs / hourMs);
    const seen: SeenDefinitions = { events: [], properties: [] };
    const seenInBatch = new Set<string>();
    rows.forEach((row, index) => {
      const { projectId, event: name } = row;
      const key = eventKey(projectId, name);
      const isFirst = !seenInBatch.has(key);
      if (isFirst) seenInBatch.add(key);
      if (!(isFirst && looks.take(key, nowMs)) && index % sampleEvery !== 0) return;
      if (isDescribable(name)) seen.events.push({ projectId, name, seenAtMs: nowMs });
      const groupTypes = ledger.projects.get(projectId)?.groupTypes;
      const found = findDefinitions(row, (type) => groupTypes?.get(type)?.index ?? null, nowMs);
      // Nearly all are known already. Only the others are kept until the batch is committed.
      for (const one of found) {
        if (!isNoted(propertyKey(one), markOf(hour, one.propertyType !== null))) seen.properties.push(one);
      }
    });
    return seen;
  }

  function note(seen: SeenDefinitions): void {
    const hour = Math.floor(now() / hourMs);
    for (const one of seen.events) {
      const key = eventKey(one.projectId, one.name);
      if (isNew(key, hour, true)) events.set(key, one);
    }
    for (const one of seen.properties) noteProperty(one, hour);
  }

  function noteProperty(definition: PropertyDefinition, hour: number): void {
    const { propertyType } = definition;
    const key = propertyKey(definition);
    if (properties.size >= maxPending || !isNew(key, hour, propertyType !== null)) return;
    const waiting = properties.get(key);
    properties.set(key, { ...definition, propertyType: waiting?.propertyType ?? propertyType });
  }

  function isNoted(key: string, mark: number): boolean {
    return (noted.get(textHash53(key)) ?? 0) >= mark;
  }

  /** True the first time in an hour, and once more when the type becomes known. */
  function isNew(key: string, hour: number, isTypeKnown: boolean): boolean {
    const mark = markOf(hour, isTypeKnown);
    if (isNoted(key, mark)) return false;
    noted.set(textHash53(key), mark);
    return true;
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
      for (const [key] of [...eventList, ...propertyList]) noted.delete(textHash53(key));
    }
  }

  function flush(): Promise<void> {
    flushing = flushing.then(write);
    return flushing;
  }

  const timer = flushIntervalMs > 0 ? setInterval(() => void flush(), flushIntervalMs) : undefined;
  timer?.unref();
  return {
    see,
    note,
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}

/** Even numbers: type not known yet. */
function markOf(hour: number, isTypeKnown: boolean): number {
  return hour * 2 + (isTypeKnown ? 1 : 0);
}

function propertyKey({ projectId, type, groupTypeIndex, name }: PropertyDefinition): string {
  return `${type}:${projectId}:${groupTypeIndex}:${name}`;
}

function eventKey(projectId: number, name: string): string {
  return `e:${projectId}:${name}`;
}

/** Counts what is taken of each key in a minute of the clock. */
function createLooks() {
  const taken = new Map<string, number>();
  let minute = 0;
  return {
    /** False when enough was taken. */
    take(key: string, nowMs: number): boolean {
      const current = Math.floor(nowMs / minuteMs);
      if (current !== minute || taken.size >= maxRemembered) taken.clear();
      minute = current;
      const count = taken.get(key) ?? 0;
      if (count >= looksPerMinute) return false;
      taken.set(key, count + 1);
      return true;
    },
  };
}
