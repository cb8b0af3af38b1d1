import { randomUUID } from 'node:crypto';
import type { StoredPerson } from '../../../../services/event-consumer/src/ledger/ledger-rows.ts';
import {
  insertMappings,
  insertPersons,
  lockVersions,
  readMappings,
  updatePersons,
} from '../../../../services/event-consumer/src/ledger/ledger-store.ts';
import type { StoreJob } from './event-sides.ts';
import { dealBatches, runStreams, type Stream } from './store-work.ts';

/**
 * Person upserts in the statements of the consumer: every batch looks up all its ids, updates the half that is stored
 * under the version it read, and inserts the new half with its ids.
 */
export async function personSide({ database, projectId, streams }: StoreJob, count: number): Promise<Stream[]> {
  const persons = Array.from({ length: count }, (_, index) => newPerson(projectId, index));
  const isStored = (_: StoredPerson, index: number) => index % 2 === 0;
  const store = (batch: StoredPerson[]) => database.transaction((tx) => insertAll(tx, batch));
  await runStreams(dealBatches(persons.filter(isStored), 1, store));
  await database.sql.query('ANALYZE person, person_distinct_id');

  return dealBatches(persons, streams, (batch) =>
    database.transaction(async (tx) => {
      const ids = batch.map(({ mainDistinctId: distinctId }) => ({ projectId, distinctId }));
      const { persons: found } = await readMappings(tx, ids);
      const known = new Set(found.map(({ uuid }) => uuid));
      await lockVersions(tx, found);
      await updatePersons(
        tx,
        found.map((person) => ({
          ...person,
          properties: { ...person.properties, plan: 'pro', seats: 12 },
          version: person.version + 1,
        })),
      );
      await insertAll(
        tx,
        batch.filter(({ uuid }) => !known.has(uuid)),
      );
    }),
  );
}

async function insertAll(tx: Parameters<typeof insertPersons>[0], persons: StoredPerson[]): Promise<void> {
  await insertPersons(tx, persons);
  await insertMappings(
    tx,
    persons.map(({ projectId, uuid, mainDistinctId }) => ({
      projectId,
      distinctId: mainDistinctId,
      personUuid: uuid,
      version: 0,
    })),
  );
}

function newPerson(projectId: number, index: number): StoredPerson {
  return {
    projectId,
    uuid: randomUUID(),
    mainDistinctId: `person-${index}`,
    properties: { plan: 'free', name: `Person ${index}`, $initial_os: 'Linux', $initial_browser: 'Firefox' },
    isIdentified: false,
    version: 0,
    createdAtMs: Date.now(),
  };
}
