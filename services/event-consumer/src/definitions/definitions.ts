// Records which event and property names exist, for the lists in the console.

import { eventNames, isObject, maxDefinedNameBytes } from '@millrace/contracts';
import type { SqlDatabase } from '@millrace/db/sql';
import type { Logger, Stoppable } from '@millrace/runtime';
import { LRUCache } from 'lru-cache';
import { describeFailure } from '../failures.ts';
import type { EventRow } from '../model/event.ts';
import type { Ledger } from '../model/ledger.ts';
import { flattenOverlay } from '../values/properties.ts';
import { textHash53 } from '../values/text.ts';
import { guessPropertyType } from './property-type.ts';
import {
  definitionType,
  type EventDefinition,
  type PropertyDefinition,
  upsertEventDefinitions,
  upsertPropertyDefinitions,
} from './store.ts';

export interface DefinitionRecorder extends Stoppable {
  /** Samples the rows of a committed batch, using its ledger. Returns quickly, and postpones writing. */
  note(rows: readonly EventRow[], ledger: Ledger): void;
  /** Clears the cache. Called when stored definitions may have been lost, so that the next events write them again. */
  forgetAll(): void;
  flush(): Promise<void>;
}

/** The maximum number of names that wait to be written. It is exceeded only if a client uses data as names. */
const maxPending = 20_000;
/**
 * Maintains the event names and properties that each project sends (docs/ingestion-rules.md#definitions). A few times
 * per minute, samples the first event of every name in a batch. In every batch, samples a few more events. Writes each
 * name at most once an hour, outside of the batches' transactions. A crash can lose the names of the last few seconds,
 * which are added again by the next events with these names.
 */
export function createDefinitionRecorder({
  database,
  logger,
  now,
  flushIntervalMs = 5000,
}: {
  database: Pick<SqlDatabase, 'transaction'>;
  logger: Logger;
  now: () => number;
  /** The write interval in milliseconds, or 0 to write only when `flush` is called. */
  flushIntervalMs?: number;
}): DefinitionRecorder {
  const noted = createNotedNames();
  const sampleLimit = createSampleLimit();
  const events = new Map<string, EventDefinition>();
  const properties = new Map<string, PropertyDefinition>();
  let flushing: Promise<void> = Promise.resolve();

  function note(rows: readonly EventRow[], ledger: Ledger): void {
    const nowMs = now();
    const seen = seeDefinitions(rows, ledger, { sampleLimit, noted, nowMs });
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
      logger.warn(
        'could not store event and property definitions; the next events will add them',
        describeFailure(error),
      );
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
    note,
    forgetAll: noted.forgetAll,
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}

interface SeenDefinitions {
  events: EventDefinition[];
  properties: PropertyDefinition[];
}

/** In addition to the first event of each name, every 64th event of a batch is sampled. */
const sampleEvery = 64;

/** Finds definitions in a sample of rows. Omits definitions that were recorded recently. */
function seeDefinitions(
  rows: readonly EventRow[],
  ledger: Ledger,
  { sampleLimit, noted, nowMs }: { sampleLimit: SampleLimit; noted: NotedNames; nowMs: number },
): SeenDefinitions {
  const seen: SeenDefinitions = { events: [], properties: [] };
  const seenInBatch = new Set<string>();
  rows.forEach((row, index) => {
    const { projectId, event: name } = row;
    const key = eventKey(projectId, name);
    const isFirst = !seenInBatch.has(key);
    if (isFirst) seenInBatch.add(key);
    if (!(isFirst && sampleLimit.take(key, nowMs)) && index % sampleEvery !== 0) return;
    if (isDescribable(name)) seen.events.push({ projectId, name, seenAtMs: nowMs });
    const groupTypes = ledger.projects.get(projectId)?.groupTypes;
    const found = findDefinitions(row, (type) => groupTypes?.get(type)?.index ?? null, nowMs);
    // Nearly all names are already recorded. Only new names are kept in memory until the batch is committed.
    for (const one of found) {
      if (!noted.has(propertyKey(one), markOf(nowMs, one.propertyType !== null))) seen.properties.push(one);
    }
  });
  return seen;
}

/** The maximum number of properties per event. A client that sends more properties uses data as names. */
const maxProperties = 1000;

const notDescribed = new Set([
  '$set',
  '$set_once',
  '$unset',
  '$groups',
  '$group_0',
  '$group_1',
  '$group_2',
  '$group_3',
  '$group_4',
]);

/**
 * Returns the properties in a stored event: its own, and those of its person (`$set`, `$set_once`). For a group
 * identify, returns only the group's properties (docs/ingestion-rules.md#definitions).
 * @param groupTypeIndexOf returns null for an unknown group type
 */
function findDefinitions(
  row: EventRow,
  groupTypeIndexOf: (groupType: string) => number | null,
  nowMs: number,
): PropertyDefinition[] {
  const { projectId } = row;
  const properties = flattenOverlay(row.properties);
  const found: PropertyDefinition[] = [];

  function describe(type: PropertyDefinition['type'], object: unknown, groupTypeIndex = -1): void {
    if (!isObject(object)) return;
    for (const [name, value] of Object.entries(object)) {
      if (type === definitionType.event && notDescribed.has(name)) continue;
      if (!isDescribable(name)) continue;
      const kind = guessPropertyType(name, value, nowMs);
      found.push({ projectId, type, groupTypeIndex, name, propertyType: kind, seenAtMs: nowMs });
    }
  }

  if (row.event === eventNames.groupIdentify) {
    const index = groupTypeIndexOf(String(properties.$group_type));
    if (index !== null) describe(definitionType.group, properties.$group_set, index);
  } else {
    describe(definitionType.event, properties);
    describe(definitionType.person, properties.$set);
    describe(definitionType.person, properties.$set_once);
  }
  return found.length > maxProperties ? [] : found;
}

function isDescribable(name: string): boolean {
  return name !== '' && Buffer.byteLength(name) <= maxDefinedNameBytes;
}

const hourMs = 3_600_000;
/** The maximum number of cached names, which use about 80 bytes each. */
const maxRemembered = 100_000;

/** Caches which names were recorded in the current clock hour, and whether their type was known then. */
interface NotedNames {
  has(key: string, mark: number): boolean;
  /** Returns true the first time a name is added in an hour, and once more when its type has become known. */
  add(key: string, mark: number): boolean;
  forget(key: string): void;
  forgetAll(): void;
}

function createNotedNames(): NotedNames {
  /** Maps the hash of a name's key to the number that `markOf` returned when the name was recorded. */
  const marks = new LRUCache<number, number>({ max: maxRemembered });
  const has = (key: string, mark: number) => (marks.get(textHash53(key)) ?? 0) >= mark;
  return {
    has,
    add(key, mark) {
      if (has(key, mark)) return false;
      marks.set(textHash53(key), mark);
      return true;
    },
    forget: (key) => void marks.delete(textHash53(key)),
    forgetAll: () => marks.clear(),
  };
}

/** Returns a number that increases each hour, and once within the hour when the type becomes known. */
function markOf(nowMs: number, isTypeKnown: boolean): number {
  return Math.floor(nowMs / hourMs) * 2 + (isTypeKnown ? 1 : 0);
}

function propertyKey({ projectId, type, groupTypeIndex, name }: PropertyDefinition): string {
  return `${type}:${projectId}:${groupTypeIndex}:${name}`;
}

function eventKey(projectId: number, name: string): string {
  return `e:${projectId}:${name}`;
}

/**
 * The number of batches per minute in which the first event of each name is sampled. If many projects share a batch,
 * nearly every event is the first one of its name, and sampling an event takes more than half as long as storing it.
 */
const samplesPerMinute = 2;
const minuteMs = 60_000;

interface SampleLimit {
  /** Counts a sample of this name. Returns false if the name's limit for the minute is already reached. */
  take(key: string, nowMs: number): boolean;
}

function createSampleLimit(): SampleLimit {
  const taken = new Map<string, number>();
  let minute = 0;
  return {
    take(key, nowMs) {
      const current = Math.floor(nowMs / minuteMs);
      if (current !== minute || taken.size >= maxRemembered) taken.clear();
      minute = current;
      const count = taken.get(key) ?? 0;
      if (count >= samplesPerMinute) return false;
      taken.set(key, count + 1);
      return true;
    },
  };
}
