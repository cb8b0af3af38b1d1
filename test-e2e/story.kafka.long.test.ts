import {
  eventually,
  expectedState,
  type StoryEvent,
  seededRandom,
  storedState,
  testSeed,
  writeStory,
} from '@millrace/testing';
import { countConsumedRecords, waitUntilDrained } from './support/log-progress.ts';
import { post } from './support/post.ts';
import { eventLogs, type RunningServices, startServices } from './support/start-services.ts';
import { computeTableChecksums } from './support/table-checksums.ts';

/**
 * Tests exactly-once effects when processes are killed (docs/architecture.md#exactly-once-effects). `npm test` checks
 * these effects for each batch (services/event-consumer), and for killed members of a consumer group
 * (packages/event-log/src/event-log.groups.kafka.test.ts).
 */
const sizes = {
  kafka: { events: 20_000, people: 500 },
  postgres: { events: 8000, people: 200 },
};
const kills = 5;
const batchSize = 100;

describe.each(eventLogs)('ingestion with killed consumers and the %s event log', (eventLog) => {
  const seed = testSeed();
  const streams = writeStory({ ...sizes[eventLog], clients: 4, seed });
  const expected = expectedState(streams);
  let services: RunningServices;

  beforeAll(async () => {
    services = await startServices({ eventLog, consumers: 2, managementApi: false });
  });
  afterAll(() => services?.stop());

  test(`consumers are killed ${kills} times while ${sizes[eventLog].events} events arrive (seed ${seed})`, async () => {
    const total = streams.flat().length;
    const pace = { sent: 0, lead: total / 8 };
    const killing = killConsumers(services, total, seededRandom(seed));
    await Promise.all([killing, ...streams.map((stream) => sendInOrder(services, stream, pace))]);
    expect(await killing).toBe(kills);
    await waitUntilDrained(services);
  }, 480_000);

  test('every event is stored once, as it was sent', async () => {
    const { events } = await storedState(services);
    const sent = [...expected.events.values()].map(({ uuid, event, distinct_id, timestamp, properties }) => ({
      uuid,
      // `$group_identify` is an exact synonym of `$groupidentify` and is stored under that name
      // (docs/ingestion-rules.md#effects-of-event-names).
      event: event === '$group_identify' ? '$groupidentify' : event,
      distinct_id,
      timestamp,
      n: properties.n ?? null,
      company: (properties.$groups as { company: string } | undefined)?.company ?? null,
    }));
    expect(events.map(({ uuid }) => uuid)).toEqual(sent.map(({ uuid }) => uuid).sort());
    expect(events).toEqual(sent.sort((a, b) => (a.uuid < b.uuid ? -1 : 1)));
  });

  test('every person has the same state as if each event had been processed once, in order', async () => {
    const { persons } = await storedState(services);
    const certain = expected.persons.map((person, index) => ({
      ...person,
      mainDistinctId: person.mainDistinctId ?? persons[index]?.mainDistinctId,
    }));
    expect(persons.map(({ creatorEventUuid, ...person }) => person)).toEqual(certain);
    expect(persons.every(({ creatorEventUuid }) => expected.events.has(creatorEventUuid))).toBe(true);
    expect(persons.every(({ distinctIds, mainDistinctId }) => distinctIds.includes(mainDistinctId))).toBe(true);
  });

  test('every group has its latest properties', async () => {
    expect((await storedState(services)).groups).toEqual(expected.groups);
  });

  test('no ingestion warning is recorded', async () => {
    expect((await services.database.query('SELECT type, details FROM ingestion_warning')).rows).toEqual([]);
  });

  test('processing the entire log again from the beginning changes nothing', async () => {
    await Promise.all(services.consumers.map((consumer) => consumer.stop()));
    const before = await computeTableChecksums(services.database);
    await services.database.query('DELETE FROM consumer_offset');
    services.consumers.splice(0, 2, ...(await Promise.all([services.startConsumer(), services.startConsumer()])));
    await waitUntilDrained(services);
    expect(await computeTableChecksums(services.database)).toEqual(before);
  }, 480_000);
});

/**
 * Sends batches one after the other, and retries rejected batches. The clients remain slightly ahead of the consumers,
 * so that every kill interrupts the processing of events and unprocessed events always remain.
 */
async function sendInOrder(services: RunningServices, stream: readonly StoryEvent[], pace: Pace): Promise<void> {
  const { ingestUrl, tenant } = services;
  for (let start = 0; start < stream.length; start += batchSize) {
    const batch = stream.slice(start, start + batchSize);
    await eventually(async () => pace.sent - (await countConsumedRecords(services)) < pace.lead, {
      what: 'Catching up with what was sent',
    });
    await eventually(
      async () => {
        const { status } = await post(`${ingestUrl}/batch/`, { api_key: tenant.projectApiKey, batch });
        expect(status).toBe(200);
      },
      { what: 'Accepting a batch', intervalMs: 200 },
    );
    pace.sent += batch.length;
  }
}

interface Pace {
  sent: number;
  /** Maximum number of events that are acknowledged but not yet consumed. */
  lead: number;
}

/**
 * Divides the stream into segments. In each segment, kills a random consumer at a random moment, and starts a new
 * consumer.
 */
async function killConsumers(services: RunningServices, total: number, random: () => number): Promise<number> {
  const places = services.consumers.map((consumer) => Promise.resolve(consumer));
  let killed = 0;
  while (killed < kills) {
    const moment = Math.floor(((killed + 0.1 + 0.8 * random()) / kills) * total);
    await eventually(async () => (await countConsumedRecords(services)) >= moment, {
      what: `Consuming ${moment} of ${total} records before kill ${killed + 1}`,
      intervalMs: 20,
    });
    const index = Math.floor(random() * places.length);
    await (await places[index])?.kill();
    killed++;
    // Do not wait for the replacement, so that the next consumer may be killed before the replacement is working.
    places[index] = services.startConsumer();
  }
  services.consumers.splice(0, places.length, ...(await Promise.all(places)));
  return killed;
}
