import { readEnvironment } from '@millrace/runtime';
import { storySize } from '@millrace/testing';
import fc from 'fast-check';
import { processEvent } from './decide.ts';
import { type EventOutcome, type IncomingEvent, personMode } from './model/event.ts';
import { createProjectLedger, type ProjectLedger } from './model/ledger.ts';
import { arbitraryEvent, arbitraryEvents, incoming, testProject } from './rule-cases/arbitrary-events.ts';
import { applyBatch, emptyMemoryStore, type MemoryStore, stored } from './rule-cases/memory-store.ts';

/** The number of runs for each property test. `PROPERTY_RUNS=10000` searches longer for counterexamples. */
const runs = { numRuns: Number(readEnvironment().PROPERTY_RUNS ?? storySize(100, 1000)) };

function inBatches(events: readonly IncomingEvent[], ends: readonly number[]) {
  const store = emptyMemoryStore();
  const outcomes: EventOutcome[] = [];
  let begin = 0;
  for (const end of [...ends.filter((end) => end < events.length).sort((a, b) => a - b), events.length]) {
    outcomes.push(...applyBatch(store, testProject.id, events.slice(begin, end)));
    begin = end;
  }
  return { store, outcomes: stored(outcomes) };
}

function ledgerAfter(events: readonly IncomingEvent[]): ProjectLedger {
  const ledger = createProjectLedger(testProject.id);
  for (const event of events) processEvent(event, ledger);
  return ledger;
}

function idsByPerson(ledger: ProjectLedger): Map<string, string[]> {
  const owned = new Map<string, string[]>();
  for (const [id, { personUuid }] of ledger.distinctIds) {
    owned.set(personUuid, [...(owned.get(personUuid) ?? []), id].sort());
  }
  return owned;
}

test('the rows and the final state do not depend on how the log is divided into batches', () => {
  fc.assert(
    fc.property(arbitraryEvents, fc.array(fc.nat({ max: 30 }), { maxLength: 8 }), (events, ends) => {
      const whole = inBatches(events, []);
      const oneByOne = inBatches(
        events,
        events.map((_, index) => index),
      );
      const split = inBatches(events, ends);
      expect(oneByOne).toEqual(whole);
      expect(split).toEqual(whole);
    }),
    runs,
  );
});

test('every distinct ID belongs to an existing person, every person has its main ID, and no ID is lost', () => {
  fc.assert(
    fc.property(arbitraryEvents, (events) => {
      const ledger = createProjectLedger(testProject.id);
      const seen = new Set<string>();
      for (const event of events) {
        const outcome = processEvent(event, ledger);
        if (outcome.kind === 'store' && outcome.row.personMode === personMode.full) {
          seen.add(event.distinctId);
          expect(outcome.row.personUuid).toBe(ledger.distinctIds.get(event.distinctId)?.personUuid);
        }
        for (const id of seen) expect(ledger.distinctIds.has(id)).toBe(true);
        for (const id of ledger.distinctIds.keys()) seen.add(id);
      }
      const owned = idsByPerson(ledger);
      expect([...owned.keys()].sort()).toEqual([...ledger.persons.keys()].sort());
      for (const person of ledger.persons.values()) expect(owned.get(person.uuid)).toContain(person.mainDistinctId);
    }),
    runs,
  );
});

test('persons that were merged stay merged', () => {
  fc.assert(
    fc.property(arbitraryEvents, arbitraryEvents, (before, after) => {
      const ledger = ledgerAfter(before);
      const once = [...idsByPerson(ledger).values()];
      for (const event of after) processEvent(event, ledger);
      for (const ids of once) {
        expect(new Set(ids.map((id) => ledger.distinctIds.get(id)?.personUuid)).size).toBe(1);
      }
    }),
    runs,
  );
});

test('an identified person stays identified, its creation time never gets later, and its version never decreases', () => {
  fc.assert(
    fc.property(arbitraryEvents, arbitraryEvent, (before, event) => {
      const ledger = ledgerAfter(before);
      const past = structuredClone(ledger);
      processEvent(event, ledger);
      for (const [id, { personUuid, version }] of past.distinctIds) {
        const was = past.persons.get(personUuid);
        const mapping = ledger.distinctIds.get(id);
        const is = ledger.persons.get(mapping?.personUuid ?? '');
        expect(is?.isIdentified === true || was?.isIdentified === false).toBe(true);
        expect(is?.createdAtMs).toBeLessThanOrEqual(was?.createdAtMs ?? Number.NaN);
        expect(is?.version).toBeGreaterThanOrEqual(was?.version ?? Number.NaN);
        expect(mapping?.version).toBeGreaterThanOrEqual(version);
      }
    }),
    runs,
  );
});

test('one event changes the version of at most one person, and increases it by one', () => {
  fc.assert(
    fc.property(arbitraryEvents, arbitraryEvent, (before, event) => {
      const ledger = ledgerAfter(before);
      const past = structuredClone(ledger);
      processEvent(event, ledger);
      const changed = [...ledger.persons.values()].filter((person) => {
        const was = past.persons.get(person.uuid);
        return (
          was !== undefined && JSON.stringify({ ...was, isDirty: 0 }) !== JSON.stringify({ ...person, isDirty: 0 })
        );
      });
      const [only] = changed;
      expect(changed.length).toBeLessThanOrEqual(1);
      if (only === undefined) return;
      const mergedAway = [...past.persons.values()].filter(({ uuid }) => !ledger.persons.has(uuid));
      const versions = [only, ...mergedAway].map(({ uuid }) => past.persons.get(uuid)?.version ?? Number.NaN);
      expect(only.version).toBe(Math.max(...versions) + 1);
      expect(only.isDirty).toBe(true);
    }),
    runs,
  );
});

test('repeating an event does not change persons, IDs or groups', () => {
  fc.assert(
    fc.property(arbitraryEvents, arbitraryEvent, (before, event) => {
      // Skip events with `$unset`, because repeating an event that sets and unsets the same property changes the
      // person.
      fc.pre(event.properties.$unset === undefined);
      const once = inBatches([...before, event], []).store;
      expect(inBatches([...before, event, event], [before.length + 1]).store).toEqual(once);
    }),
    runs,
  );
});

test('the indexes of group types are unique and from 0 to 4', () => {
  fc.assert(
    fc.property(arbitraryEvents, (events) => {
      const indexes = [...ledgerAfter(events).groupTypes.values()].map(({ index }) => index);
      expect(indexes.sort()).toEqual(Array.from({ length: indexes.length }, (_, index) => index));
      expect(indexes.length).toBeLessThanOrEqual(5);
    }),
    runs,
  );
});

test('no JSON value makes the rules throw, modify the event or modify a prototype', () => {
  const name = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.constantFrom('$identify', '$create_alias', '$groupidentify', '$autocapture', 'survey shown', '__proto__'),
  );
  const special = fc.constantFrom(
    ...['$set', '$set_once', '$unset', '$groups', '$group_type', '$group_key', '$group_set', '$elements', 'alias'],
    ...['$elements_chain', '$anon_distinct_id', '$process_person_profile', '$os_name', '$is_server', '$browser', '$ip'],
    ...['__proto__', 'constructor', 'hasOwnProperty', '$initial_os_name'],
  );
  const properties = fc.dictionary(fc.oneof(special, fc.string()), fc.jsonValue({ maxDepth: 4 }));
  const prototype = JSON.stringify(Object.getOwnPropertyNames(Object.prototype).sort());
  fc.assert(
    fc.property(fc.array(fc.record({ name, properties, id: fc.string({ minLength: 1 }) })), (parts) => {
      const events = parts.map(({ name: event, properties: sent, id }) =>
        incoming({
          kind: 'event',
          uuid: '00000000-0000-4000-8000-000000000001',
          token: 'phc_test',
          distinct_id: id,
          event,
          timestamp: '2026-03-01T12:00:00.000Z',
          now: '2026-03-01T12:00:00.000Z',
          ip: null,
          properties: sent,
        }),
      );
      const whole = inBatches(events, []);
      expect(inBatches(events, [1, 2, 3])).toEqual(whole);
      expectKnownShape(whole.store);
    }),
    runs,
  );
  expect(JSON.stringify(Object.getOwnPropertyNames(Object.prototype).sort())).toBe(prototype);
});

function expectKnownShape(store: MemoryStore): void {
  for (const person of store.persons.values()) expect(Object.getPrototypeOf(person.properties)).toBe(Object.prototype);
  for (const group of store.groups.values()) expect(Object.getPrototypeOf(group.properties)).toBe(Object.prototype);
}
