import type { IncomingEvent } from '../intake/incoming-event.ts';
import { touchedByBatch } from './touched-by-batch.ts';

function event(name: string, distinctId: string, properties: Record<string, unknown>): IncomingEvent {
  return {
    position: { topic: 'events.live', partition: 0, offset: 0n },
    project: { id: 1, token: 'phc_test', anonymizeIps: false, personProcessingOptOut: false },
    uuid: '00000000-0000-4000-8000-000000000001',
    event: name,
    distinctId,
    properties,
    timestampMs: 0,
    capturedAtMs: 0,
    isHistorical: false,
  };
}

const knownIds = { has: (key: string) => key.startsWith('1:known') };

test.each<[string, IncomingEvent, string[]]>([
  ['an id nobody has seen', event('bought', 'new', {}), ['1:new']],
  ['a look at a known person', event('bought', 'known', { $current_url: '/' }), []],
  ['an update of a known person', event('bought', 'known', { $set: { plan: 'pro' } }), ['1:known']],
  ['a first value for a known person', event('bought', 'known', { $set_once: { plan: 'pro' } }), ['1:known']],
  ['a removal from a known person', event('bought', 'known', { $unset: ['plan'] }), ['1:known']],
  [
    'a merge of two known persons',
    event('$identify', 'known', { $anon_distinct_id: 'known-too' }),
    ['1:known', '1:known-too'],
  ],
  [
    'a known person who describes a group',
    event('$groupidentify', 'known', { $group_type: 'team', $group_key: 'blue', $set: { a: 1 } }),
    [],
  ],
])('waits for %s only if somebody else is about to change it', (_, one, contested) => {
  expect([...touchedByBatch([one], knownIds).contested].sort()).toEqual(contested);
});

test('names each id once, also those that are not contested', () => {
  const touched = touchedByBatch([event('a', 'known', {}), event('b', 'known', {}), event('c', 'x', {})], knownIds);
  expect([...touched.distinctIds.values()]).toEqual([
    { projectId: 1, distinctId: 'known' },
    { projectId: 1, distinctId: 'x' },
  ]);
});
