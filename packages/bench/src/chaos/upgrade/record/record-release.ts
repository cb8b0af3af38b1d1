import type { TestTenant } from '@millrace/testing';
import { topicPrefix } from '../../chaos-services.ts';
import { startChaosSystem } from '../../chaos-system.ts';
import { prepareAsRelease } from '../prepare-as-release.ts';
import { buildRelease } from '../release-build.ts';
import { askServices, makeDefinitions } from './ask-services.ts';
import { writeReleaseRecord } from './release-record.ts';
import { sendRecordedRequests } from './requests.ts';
import { readStored, readTables } from './table-rows.ts';
import { openTopics } from './topic-records.ts';

/** What no gateway writes, and a consumer sorts out with a reason. */
const unreadable = { topic: 'live', key: null, headers: {}, value: 'no JSON at all' } as const;

/**
 * Has a release do a bit of everything, and keeps what it left in topics and tables and what it answered, for the test that this
 * state of the repository reads all of it (`last-release.test.ts`).
 * @param ref anything git knows.
 */
export async function recordRelease(ref: string, print: (line: string) => void): Promise<void> {
  print(`building ${ref}`);
  const release = await buildRelease(ref);
  const system = await startChaosSystem({
    settings: { TOPIC_PARTITIONS: '1', PUBLISH_PROCESSED: 'on' },
    prepare: (address) => prepareAsRelease(release, address),
  });
  const closers: (() => Promise<unknown>)[] = [system.stop];
  try {
    const services = system.servicesOf(release.files);
    const tenant = ofTenant(system.tenant);
    const topics = await openTopics(system.kafka.address, topicPrefix);
    closers.push(topics.close);
    await topics.create();
    const [gateway, api] = [await services.startGateway(0), await services.startManagementApi()];
    await makeDefinitions(api.port, tenant);
    const tables = await readTables(system.database);
    const statuses = await sendRecordedRequests(gateway.port, tenant.projectApiKey);
    // Warnings are gathered for a moment, and sent when it stops at the latest.
    await gateway.stop();
    await topics.append([unreadable]);
    const records = await topics.read();
    print(`${records.length} records, ${Object.keys(tables).length} tables`);

    // One after the other: what two lanes do at once has no order.
    for (const lane of ['live', 'historical'] as const) {
      const consumer = await services.startConsumer({ CONSUMER_LANES: lane });
      await topics.untilConsumed(lane, system.database);
      // Names are written down a few seconds later, and when it stops.
      await consumer.stop();
    }
    const stored = await readStored(system.database);
    const published = (await topics.read()).filter(({ topic }) => topic === 'processed' || topic === 'deadLetter');
    const asked = await services.startGateway(0);
    const answers = await askServices({ api: api.port, gateway: asked.port }, tenant);
    const commit = release.commit;
    writeReleaseRecord({ commit, tenant, statuses, records, tables, stored, published, answers });
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

const ofTenant = ({ projectId, projectApiKey, personalApiKey }: TestTenant) => ({
  projectId,
  projectApiKey,
  personalApiKey,
});
