import { eventually } from '@millrace/testing';
import { expectedState } from './story/expected-state.ts';
import { seededRandom } from './story/seeded-random.ts';
import { storedState } from './story/stored-state.ts';
import type { StoryEvent } from './story/story-event.ts';
import { writeStory } from './story/write-story.ts';
import { appendedRecords, awaitDrained, consumedRecords } from './support/log-progress.ts';
import { post } from './support/post.ts';
import { eventLogs, type RunningServices, startServices } from './support/start-services.ts';
import { tableChecksums } from './support/table-checksums.ts';

/** ARCHITECTURE.md "Promises" 1 and 2, with processes that die: 20,000 events on Kafka, a shorter story on the embedded log. */
const sizes = { kafka: { events: 20_000, people: 500 }, postgres: { events: 4000, people: 100 } };
const kills = 5;
const batchSize = 100;

describe.each(eventLogs)('a story with sudden deaths on the %s log', (eventLog) => {
  const seed = Math.floor(Math.random() * 1e9);
  const streams = writeStory({ ...sizes[eventLog], clients: 4, seed });
  const expected = expectedState(streams);
  let services: RunningServices;

  beforeAll(async () => {
    services = await startServices({ eventLog, consumers: 2, managementApi: false });
  }, 90_000);
  afterAll(() => services?.stop(), 30_000);

  test(`consumers are killed ${kills} times while ${sizes[eventLog].events} events come in (seed ${seed})`, async () => {
    const killing = killConsumers(services, streams.flat().length, seededRandom(seed));
    await Promise.all(streams.map((stream) => sendInOrder(services, stream)));
    expect(await killing).toBe(kills);
    // Events that share a request with nothing dropped are one record each, repeats included.
    expect(await appendedRecords(services)).toBe(streams.flat().length);
    await awaitDrained(services, 120_000);
  }, 240_000);

  test('every event is stored once, as it was sent', async () => {
    const { events } = await storedState(services);
    const sent = [...expected.events.values()].map(({ uuid, event, distinct_id, timestamp, properties }) => ({
      uuid,
      // ARCHITECTURE.md 7: an exact synonym, stored under the one name.
      event: event === '$group_identify' ? '$groupidentify' : event,
      distinct_id,
      timestamp,
      n: properties.n ?? null,
    }));
    expect(events.map(({ uuid }) => uuid)).toEqual(sent.map(({ uuid }) => uuid).sort());
    expect(events).toEqual(sent.sort((a, b) => (a.uuid < b.uuid ? -1 : 1)));
  });

  test('every person is as if each event had been processed once, in order', async () => {
    const { persons } = await storedState(services);
    const certain = expected.persons.map((person, index) => ({
      ...person,
      mainDistinctId: person.mainDistinctId ?? persons[index]?.mainDistinctId,
    }));
    expect(persons.map(({ creatorEventUuid, ...person }) => person)).toEqual(certain);
    expect(persons.every(({ creatorEventUuid }) => expected.events.has(creatorEventUuid))).toBe(true);
    expect(persons.every(({ distinctIds, mainDistinctId }) => distinctIds.includes(mainDistinctId))).toBe(true);
  });

  test('every group holds what was last set', async () => {
    expect((await storedState(services)).groups).toEqual(expected.groups);
  });

  test('no warning was raised', async () => {
    expect((await services.database.query('SELECT type, details FROM ingestion_warning')).rows).toEqual([]);
  });

  test('the whole log once more from its beginning changes nothing', async () => {
    await Promise.all(services.consumers.map((consumer) => consumer.stop()));
    const before = await tableChecksums(services.database);
    await services.database.query('DELETE FROM consumer_offset');
    services.consumers.splice(0, 2, ...(await Promise.all([services.startConsumer(), services.startConsumer()])));
    await awaitDrained(services, 120_000);
    expect(await tableChecksums(services.database)).toEqual(before);
  }, 240_000);
});

/** Batches one after the other, as one client does; a batch that is refused is sent again. */
async function sendInOrder({ ingestUrl, tenant }: RunningServices, stream: readonly StoryEvent[]): Promise<void> {
  for (let start = 0; start < stream.length; start += batchSize) {
    const batch = stream.slice(start, start + batchSize);
    await eventually(
      async () =>
        expect(await post(`${ingestUrl}/batch/`, { api_key: tenant.projectApiKey, batch })).toMatchObject({
          status: 200,
        }),
      { what: 'Accepting a batch' },
    );
  }
}

/** Each time a random share of the records has been consumed, kills a random consumer and puts another in its place. */
async function killConsumers(services: RunningServices, total: number, random: () => number): Promise<number> {
  const moments = Array.from({ length: kills }, () => (0.05 + random() * 0.8) * total).sort((a, b) => a - b);
  let killed = 0;
  for (const moment of moments) {
    await eventually(async () => expect(await consumedRecords(services)).toBeGreaterThanOrEqual(moment), {
      what: `Consuming ${Math.round(moment)} of ${total} records before kill ${killed + 1}`,
      timeoutMs: 90_000,
      intervalMs: 20,
    });
    const index = Math.floor(random() * services.consumers.length);
    await services.consumers[index]?.kill();
    killed++;
    services.consumers[index] = await services.startConsumer();
  }
  return killed;
}
