import type { InspectedTopic, LogDirectory } from '@millrace/event-log';
import { testCertificates } from '@millrace/testing';
import { checkCertificateFiles } from './certificates.ts';
import { type Finding, runChecks } from './checks.ts';
import { checkConsumers } from './kafka.ts';
import { checkDisks, checkReplicas } from './kafka-brokers.ts';
import { checkRecordSize, checkRetention } from './kafka-topics.ts';
import { checkClock, judgeConnections, judgeServer } from './postgres.ts';
import { judgeArchiver, judgeCleaning, judgeReplication } from './postgres-storage.ts';
import { checkRedis } from './redis.ts';

// What the servers that tests share cannot be made to show.

const mib = 1024 * 1024;
const dayMs = 86_400_000;
const server = { version: 180_004, shown: '18.4', isStandby: false, isReadOnly: false };
const redis = { version: '7.0.1', isReplica: false, usedMemory: 95 * mib, maxMemory: 0, policy: 'noeviction' };
const onMachine = { ...redis, machineMemory: 1000 * mib, isSaved: true };
const limited = { ...onMachine, maxMemory: 100 * mib };
const standby = { name: 'b', state: 'streaming', bytesBehind: 0, secondsBehind: 0 };
const slot = { name: 's', isActive: true, keptBytes: 0, status: 'reserved', safeBytes: null };
const archiver = { failures: 3, lastFailed: new Date(2e12), lastArchived: new Date(1e12) };
const safe = { 'min.insync.replicas': '2' };
const directory = { broker: 1, path: '/data', isOffline: false };
const lane = { topic: 't', partitions: 12, members: 12, unread: 0n };
const sql = { query: async () => [{ ms: Date.now() }] as never[] };

function topic(settings: Record<string, string> | null, partition: object = {}): InspectedTopic[] {
  const whole = { partition: 0, hasLeader: true, replicas: 3, inSync: 3, low: 0n, high: 0n };
  const map = settings === null ? null : new Map(Object.entries(settings));
  return [{ topic: 't', log: 'kafka/a/1', partitions: [{ ...whole, ...partition }], settings: map }];
}

function diskWith(freeGib: number): LogDirectory {
  return { ...directory, space: { totalBytes: 100 * 1024 * mib, freeBytes: freeGib * 1024 * mib } };
}

function daysBeforeExpiry(days: number): Finding[] {
  const env = { KAFKA_SSL_CA_FILE: testCertificates.authorityFile };
  const [, last = ''] = /until (\S+)/.exec(checkCertificateFiles(env)[0]?.found ?? '') ?? [];
  return checkCertificateFiles(env, Date.parse(last) - days * dayMs);
}

function retentionOf(low: bigint, nextOffset: bigint): Finding[] {
  const at = { topic: 't', partition: 0, group: 'g', log: 'kafka/a/1', end: 9n, updatedAt: new Date() };
  return checkRetention({
    topics: topic({ 'retention.ms': String(7 * dayMs) }, { low, high: 9n }),
    lanes: ['t'],
    offsets: [{ ...at, nextOffset }],
    keepDeletedIdsDays: 90,
    newerHalf: new Map([['t', new Map([[0, 5n]])]]),
  });
}

test.each<[string, () => Finding[] | Promise<Finding[]>, Finding['state'], string]>([
  ['an old server', () => judgeServer({ ...server, version: 140_009, shown: '14.9' }), 'problem', '14.9 is too old'],
  ['a standby for a server', () => judgeServer({ ...server, isStandby: true }), 'problem', 'read-only standby'],
  ['a standby in step', () => judgeReplication([standby], []), 'ok', 'up to date: 1'],
  ['a standby behind', () => judgeReplication([{ ...standby, secondsBehind: 90 }], []), 'warning', 'b is 90 s'],
  ['a standby unseen', () => judgeReplication([{ ...standby, state: null }], []), 'ok', 'cannot see'],
  ['a slot that is read', () => judgeReplication([], [slot]), 'ok', 'no standby'],
  ['a slot cut off', () => judgeReplication([], [{ ...slot, status: 'lost' }]), 'problem', 'can no longer catch up'],
  ['a slot nearly cut off', () => judgeReplication([], [{ ...slot, safeBytes: mib }]), 'problem', 'After 1 MiB more'],
  ['a slot unreserved', () => judgeReplication([], [{ ...slot, status: 'unreserved' }]), 'problem', '0 MiB more'],
  ['a slot behind', () => judgeReplication([], [{ ...slot, keptBytes: 3000 * mib }]), 'warning', '2.9 GiB of write-'],
  ['an archive that fails', () => judgeArchiver(archiver), 'problem', 'since 2001-09-09T01:46:40.000Z (failures: 3)'],
  ['an archive that never worked', () => judgeArchiver({ ...archiver, lastArchived: null }), 'problem', 'never succ'],
  ['an archive well again', () => judgeArchiver({ ...archiver, lastFailed: new Date(0) }), 'ok', 'archived until 2001'],
  ['rows not frozen', () => judgeCleaning({ unfrozen: 1.2e9, autovacuum: 'on' }), 'warning', '1200 million'],
  ['rows long not frozen', () => judgeCleaning({ unfrozen: 1.9e9, autovacuum: 'on' }), 'problem', '1900 million'],
  ['nobody cleans', () => judgeCleaning({ unfrozen: 1, autovacuum: 'off' }), 'warning', 'autovacuum is off'],
  ['few connections left', () => [judgeConnections({ used: 85, most: 97 })], 'warning', '85 of 97'],
  ['a clock ahead', () => checkClock(sql, () => Date.now() + 10_000), 'warning', '10 s ahead of'],
  ['a clock far behind', () => checkClock(sql, () => Date.now() - 100_000), 'problem', '100 s behind'],
  ['a Redis without a limit', () => checkRedis(onMachine), 'ok', 'nothing is evicted'],
  ['a Redis that evicts', () => checkRedis({ ...limited, policy: 'volatile-lru' }), 'warning', 'volatile-lru (95%'],
  ['a Redis about to be ended', () => checkRedis({ ...onMachine, usedMemory: 950 * mib }), 'warning', 'uses 95% of'],
  ['a Redis that cannot save', () => checkRedis({ ...onMachine, isSaved: false }), 'warning', 'could not save'],
  ['a full Redis', () => checkRedis(limited), 'warning', '95% of 100 MiB'],
  ['a Redis with room', () => checkRedis({ ...limited, usedMemory: mib }), 'ok', '1% of 100 MiB'],
  ['a replica for a Redis', () => checkRedis({ ...onMachine, isReplica: true }), 'problem', 'replica'],
  ['three brokers in step', () => checkReplicas(topic(safe), 3), 'ok', '3 brokers'],
  ['a partition nobody leads', () => checkReplicas(topic(safe, { hasLeader: false }), 3), 'problem', 't/0'],
  ['a copy behind', () => checkReplicas(topic(safe, { inSync: 2 }), 3), 'warning', 'replicas of t/0'],
  ['too few copies', () => checkReplicas(topic(safe, { inSync: 1 }), 3), 'problem', 'min.insync.replicas'],
  ['only one replica', () => checkReplicas(topic(safe, { replicas: 1, inSync: 1 }), 3), 'warning', 'only one replica'],
  ['one copy acknowledged', () => checkReplicas(topic({}), 3), 'warning', 'min.insync.replicas=1'],
  ['all copies needed', () => checkReplicas(topic({ 'min.insync.replicas': '3' }), 3), 'warning', 'one broker is down'],
  [
    'unclean elections',
    () => checkReplicas(topic({ ...safe, 'unclean.leader.election.enable': 'true' }), 3),
    'warning',
    'unclean.leader',
  ],
  ['disks that Kafka does not describe', () => checkDisks(null), 'ok', 'requires Kafka 3.3'],
  ['disks of sizes unknown', () => checkDisks([{ ...directory, space: null }]), 'ok', 'do not report the sizes'],
  [
    'disks with room',
    () => checkDisks([diskWith(60), diskWith(30)]),
    'ok',
    '/data has 30 GiB of 100 GiB left, broker 1',
  ],
  ['a disk that fills up', () => checkDisks([diskWith(60), diskWith(19)]), 'warning', 'has 19 GiB of 100 GiB left'],
  ['a full disk', () => checkDisks([diskWith(4), diskWith(60)]), 'problem', 'broker 1, /data has 4.0 GiB'],
  ['a disk given up', () => checkDisks([{ ...directory, isOffline: true, space: null }]), 'problem', 'broker 1, /data'],
  [
    'settings that may not be read',
    () => checkRecordSize(topic(null), { maxRecordBytes: 900_000, maxAiRecordBytes: 8_000_000 }),
    'warning',
    'cannot read',
  ],
  ['events read in time', () => retentionOf(0n, 9n), 'ok', 'events are kept for 7 days'],
  ['old events unread', () => retentionOf(0n, 4n), 'problem', 'older than half'],
  ['events deleted unread', () => retentionOf(6n, 4n), 'problem', 'deleted events from t/0'],
  [
    'more consumers than partitions',
    () => checkConsumers([{ ...lane, members: 13 }]),
    'warning',
    't (consumers: 13, partitions: 12)',
  ],
  ['a certificate in time', () => daysBeforeExpiry(30), 'ok', 'valid until'],
  ['a certificate that soon expires', () => daysBeforeExpiry(20), 'warning', 'expires in 20 days'],
  ['a certificate that has expired', () => daysBeforeExpiry(-2), 'problem', 'expired on'],
])('%s', async (_what, look, state, found) => {
  expect(await look()).toContainEqual(expect.objectContaining({ state, found: expect.stringContaining(found) }));
});

test('a check that never ends is given up, one that fails says why, and the others are heard', async () => {
  const cause = new Error('permission denied for table x');
  const findings = await runChecks(
    [
      { name: 'silent', look: () => new Promise<never>(() => {}) },
      { name: 'broken', look: () => Promise.reject(new Error('asking', { cause })) },
      { name: 'well', look: () => [{ state: 'ok', found: 'fine', advice: null }] },
    ],
    10,
  );
  expect(findings).toMatchObject([
    { check: 'silent', state: 'problem', found: 'could not be checked: no response within 10 ms' },
    { check: 'broken', state: 'problem', found: 'could not be checked: asking: permission denied for table x' },
    { check: 'well', state: 'ok' },
  ]);
});
