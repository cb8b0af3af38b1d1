import type { InspectedTopic, LogDirectory } from '@millrace/event-log';
import { testCertificates } from '@millrace/testing';
import { checkCertificateFiles } from './certificates.ts';
import { type Finding, runChecks } from './checks.ts';
import { checkConsumers } from './kafka.ts';
import { checkDisks, checkReplicas } from './kafka-brokers.ts';
import { checkRecordSize, checkRetention } from './kafka-topics.ts';
import { checkClock, judgeConnections, judgeServer } from './postgres.ts';
import { judgeArchiver, judgeReplication, judgeVacuum } from './postgres-storage.ts';
import { checkRedis } from './redis.ts';

// Tests findings that cannot be produced with the shared test servers.

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
const members = { topic: 't', partitions: 12, members: 12, unread: 0n };
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
    eventTopics: ['t'],
    offsets: [{ ...at, nextOffset }],
    keepDeletedIdsDays: 90,
    newerHalf: new Map([['t', new Map([[0, 5n]])]]),
  });
}

test.each<[string, () => Finding[] | Promise<Finding[]>, Finding['state'], string]>([
  ['an old server', () => judgeServer({ ...server, version: 140_009, shown: '14.9' }), 'problem', '14.9 is too old'],
  [
    'a standby that is used as the primary',
    () => judgeServer({ ...server, isStandby: true }),
    'problem',
    'read-only standby',
  ],
  ['a standby that is up to date', () => judgeReplication([standby], []), 'ok', 'up to date: 1'],
  ['a standby that lags', () => judgeReplication([{ ...standby, secondsBehind: 90 }], []), 'warning', 'b is 90 s'],
  ['standbys that the role cannot see', () => judgeReplication([{ ...standby, state: null }], []), 'ok', 'cannot see'],
  ['a slot with a reader', () => judgeReplication([], [slot]), 'ok', 'no standby'],
  ['a lost slot', () => judgeReplication([], [{ ...slot, status: 'lost' }]), 'problem', 'can no longer catch up'],
  [
    'a slot that will soon be lost',
    () => judgeReplication([], [{ ...slot, safeBytes: mib }]),
    'problem',
    'After 1 MiB more',
  ],
  ['an unreserved slot', () => judgeReplication([], [{ ...slot, status: 'unreserved' }]), 'problem', '0 MiB more'],
  [
    'a slot that keeps much write-ahead log',
    () => judgeReplication([], [{ ...slot, keptBytes: 3000 * mib }]),
    'warning',
    '2.9 GiB of write-',
  ],
  ['failing archiving', () => judgeArchiver(archiver), 'problem', 'since 2001-09-09T01:46:40.000Z (failures: 3)'],
  ['archiving that never worked', () => judgeArchiver({ ...archiver, lastArchived: null }), 'problem', 'never succ'],
  [
    'archiving that works again',
    () => judgeArchiver({ ...archiver, lastFailed: new Date(0) }),
    'ok',
    'archived until 2001',
  ],
  ['rows that should be frozen', () => judgeVacuum({ unfrozen: 1.2e9, autovacuum: 'on' }), 'warning', '1200 million'],
  [
    'rows that must be frozen immediately',
    () => judgeVacuum({ unfrozen: 1.9e9, autovacuum: 'on' }),
    'problem',
    '1900 million',
  ],
  ['disabled autovacuum', () => judgeVacuum({ unfrozen: 1, autovacuum: 'off' }), 'warning', 'autovacuum is off'],
  ['few available connections', () => [judgeConnections({ used: 85, most: 97 })], 'warning', '85 of 97'],
  ['a clock that is ahead', () => checkClock(sql, () => Date.now() + 10_000), 'warning', '10 s ahead of'],
  ['a clock that is far behind', () => checkClock(sql, () => Date.now() - 100_000), 'problem', '100 s behind'],
  ['Redis without a memory limit', () => checkRedis(onMachine), 'ok', 'nothing is evicted'],
  ['Redis that evicts keys', () => checkRedis({ ...limited, policy: 'volatile-lru' }), 'warning', 'volatile-lru (95%'],
  [
    'Redis that uses almost all memory of its machine',
    () => checkRedis({ ...onMachine, usedMemory: 950 * mib }),
    'warning',
    'uses 95% of',
  ],
  ['Redis that cannot save its data', () => checkRedis({ ...onMachine, isSaved: false }), 'warning', 'could not save'],
  ['Redis that is almost full', () => checkRedis(limited), 'warning', '95% of 100 MiB'],
  ['Redis with free memory', () => checkRedis({ ...limited, usedMemory: mib }), 'ok', '1% of 100 MiB'],
  ['a Redis replica', () => checkRedis({ ...onMachine, isReplica: true }), 'problem', 'replica'],
  ['three brokers in sync', () => checkReplicas(topic(safe), 3), 'ok', '3 brokers'],
  ['a partition without a leader', () => checkReplicas(topic(safe, { hasLeader: false }), 3), 'problem', 't/0'],
  ['a replica that is not in sync', () => checkReplicas(topic(safe, { inSync: 2 }), 3), 'warning', 'replicas of t/0'],
  ['too few replicas in sync', () => checkReplicas(topic(safe, { inSync: 1 }), 3), 'problem', 'min.insync.replicas'],
  ['only one replica', () => checkReplicas(topic(safe, { replicas: 1, inSync: 1 }), 3), 'warning', 'only one replica'],
  ['acknowledgement by a single broker', () => checkReplicas(topic({}), 3), 'warning', 'min.insync.replicas=1'],
  [
    'a minimum that requires all replicas',
    () => checkReplicas(topic({ 'min.insync.replicas': '3' }), 3),
    'warning',
    'one broker is down',
  ],
  [
    'unclean elections',
    () => checkReplicas(topic({ ...safe, 'unclean.leader.election.enable': 'true' }), 3),
    'warning',
    'unclean.leader',
  ],
  ['disks of a Kafka version that does not report them', () => checkDisks(null), 'ok', 'requires Kafka 3.3'],
  ['disks whose size is unknown', () => checkDisks([{ ...directory, space: null }]), 'ok', 'do not report the sizes'],
  [
    'disks with free space',
    () => checkDisks([diskWith(60), diskWith(30)]),
    'ok',
    '/data has 30 GiB of 100 GiB left, broker 1',
  ],
  ['a disk that fills up', () => checkDisks([diskWith(60), diskWith(19)]), 'warning', 'has 19 GiB of 100 GiB left'],
  ['a full disk', () => checkDisks([diskWith(4), diskWith(60)]), 'problem', 'broker 1, /data has 4.0 GiB'],
  ['an offline disk', () => checkDisks([{ ...directory, isOffline: true, space: null }]), 'problem', 'broker 1, /data'],
  [
    'settings that the role cannot read',
    () => checkRecordSize(topic(null), { maxRecordBytes: 900_000, maxAiRecordBytes: 8_000_000 }),
    'warning',
    'cannot read',
  ],
  ['events that are read in time', () => retentionOf(0n, 9n), 'ok', 'events are kept for 7 days'],
  ['old unread events', () => retentionOf(0n, 4n), 'problem', 'older than half'],
  ['events that were deleted unread', () => retentionOf(6n, 4n), 'problem', 'deleted events from t/0'],
  [
    'more consumers than partitions',
    () => checkConsumers([{ ...members, members: 13 }]),
    'warning',
    't (consumers: 13, partitions: 12)',
  ],
  ['a valid certificate', () => daysBeforeExpiry(30), 'ok', 'valid until'],
  ['a certificate that expires soon', () => daysBeforeExpiry(20), 'warning', 'expires in 20 days'],
  ['an expired certificate', () => daysBeforeExpiry(-2), 'problem', 'expired on'],
])('doctor reports %s', async (_what, run, state, found) => {
  expect(await run()).toContainEqual(expect.objectContaining({ state, found: expect.stringContaining(found) }));
});

test('doctor reports a check that hangs or fails, and still returns the findings of all other checks', async () => {
  const cause = new Error('permission denied for table x');
  const findings = await runChecks(
    [
      { name: 'silent', run: () => new Promise<never>(() => {}) },
      { name: 'broken', run: () => Promise.reject(new Error('asking', { cause })) },
      { name: 'well', run: () => [{ state: 'ok', found: 'fine', advice: null }] },
    ],
    10,
  );
  expect(findings).toMatchObject([
    { check: 'silent', state: 'problem', found: 'could not be checked: no response within 10 ms' },
    { check: 'broken', state: 'problem', found: 'could not be checked: asking: permission denied for table x' },
    { check: 'well', state: 'ok' },
  ]);
});
