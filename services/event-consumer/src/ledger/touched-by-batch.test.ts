import type { CapturedEvent } from '@millrace/contracts';
import fc from 'fast-check';
import { admitEvent } from '../intake/admit.ts';
import { toIncomingEvent } from '../intake/incoming-event.ts';
import type { IncomingEvent } from '../model/event.ts';
import { arbitraryCaptured, testProject } from '../rule-cases/arbitrary-events.ts';
import { findTouchedIds, findTouchedIdsOfBatch } from './touched.ts';

const time = '2026-03-01T12:00:00.000Z';

function event(name: string, distinctId: string, properties: CapturedEvent['properties']): CapturedEvent {
  const uuid = '00000000-0000-4000-8000-000000000001';
  const token = testProject.token;
  return {
    kind: 'event',
    ...{ uuid, token, distinct_id: distinctId, event: name, timestamp: time, now: time, ip: null, properties },
  };
}

const position = { log: 'test', topic: 'events.live', partition: 0, offset: 0n };

function incoming(captured: CapturedEvent): IncomingEvent {
  const admission = admitEvent({ ...captured, properties: { ...captured.properties } }, testProject, position);
  if (admission.kind === 'drop') throw new Error('the test made an event that is not admitted');
  return toIncomingEvent(admission.event);
}

const knownIds = { has: (key: string) => key.startsWith('1:known') };

test.each<[string, CapturedEvent, string[]]>([
  ['an unknown ID', event('bought', 'new', {}), ['1:new']],
  ['an event without changes of a known person', event('bought', 'known', { $current_url: '/' }), []],
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
])(
  'a batch waits for other batches only because of the IDs of persons that it probably changes: %s',
  (_, one, contested) => {
    expect([...findTouchedIdsOfBatch([incoming(one)], knownIds).contested].sort()).toEqual(contested);
  },
);

test('lists each distinct ID of a batch once, even those that it will not change', () => {
  const events = [event('a', 'known', {}), event('b', 'known', {}), event('c', 'x', {})];
  const touched = findTouchedIdsOfBatch(events.map(incoming), knownIds);
  expect([...touched.distinctIds.values()]).toEqual([
    { projectId: 1, distinctId: 'known' },
    { projectId: 1, distinctId: 'x' },
  ]);
});

test.each<[string, CapturedEvent, number[]]>([
  ['an event in a group', event('bought', 'u', { $groups: { team: 'blue' } }), [1]],
  ['a group identify', event('$groupidentify', 'u', { $group_type: 'team', $group_key: 'blue' }), [1]],
  ['a group identify by its other name', event('$group_identify', 'u', { $group_type: 'a', $group_key: 'b' }), [1]],
  ['an event without groups', event('bought', 'u', { groups: { team: 'blue' } }), []],
])('loads the group types for %s', (_, one, projects) => {
  expect(findTouchedIdsOfBatch([incoming(one)], knownIds).projectsWithGroups).toEqual(projects);
});

test('returns the same IDs and group types for a batch with one event as for the event', () => {
  fc.assert(
    fc.property(arbitraryCaptured.map(incoming), (one) => {
      const { distinctIds, groupTypes } = findTouchedIds(one);
      const touched = findTouchedIdsOfBatch([one], knownIds);
      expect([...touched.distinctIds.values()].map(({ distinctId }) => distinctId)).toEqual(distinctIds);
      expect(touched.projectsWithGroups).toEqual(groupTypes.length > 0 ? [testProject.id] : []);
    }),
  );
});
