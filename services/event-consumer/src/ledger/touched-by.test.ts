import type { IncomingEvent } from '../model/event.ts';
import { findTouchedIds } from './touched.ts';

function event(name: string, properties: Record<string, unknown>): IncomingEvent {
  return {
    position: { log: 'test', topic: 'events.live', partition: 0, offset: 0n },
    project: { id: 1, token: 'phc_test', anonymizeIps: false, personProcessingOptOut: false },
    uuid: '00000000-0000-4000-8000-000000000001',
    event: name,
    distinctId: 'u',
    properties,
    timestampMs: 0,
    capturedAtMs: 0,
    isHistorical: false,
    warnings: [],
  };
}

test.each<[string, Record<string, unknown>, string[]]>([
  ['bought', { alias: 'x', $anon_distinct_id: 'y' }, ['u']],
  ['$identify', { $set: {} }, ['u']],
  ['$identify', { $anon_distinct_id: 'anon' }, ['anon', 'u']],
  ['$identify', { $anon_distinct_id: 'u' }, ['u']],
  ['$create_alias', { alias: 'other' }, ['other', 'u']],
  ['$create_alias', { alias: '' }, ['u']],
  ['$create_alias', { alias: {} }, ['u']],
  ['$merge_dangerously', { alias: 'other' }, ['other', 'u']],
  ['constructor', {}, ['u']],
])('returns for the event %s with the properties %j the distinct IDs %j', (name, properties, distinctIds) => {
  expect(findTouchedIds(event(name, properties)).distinctIds.sort()).toEqual(distinctIds);
});

test('returns all group types of an event, including the one that a group identify event describes', () => {
  const properties = { $group_type: 'org', $group_key: 7, $groups: { team: 'blue', org: 'x' } };
  expect(findTouchedIds(event('$groupidentify', properties)).groupTypes).toEqual(['team', 'org']);
  expect(findTouchedIds(event('e', properties)).groupTypes).toEqual(['team', 'org']);
  expect(findTouchedIds(event('$groupidentify', { $group_type: 'org', $group_key: 'x' })).groupTypes).toEqual(['org']);
  expect(findTouchedIds(event('e', { $groups: ['x'] })).groupTypes).toEqual([]);
});
