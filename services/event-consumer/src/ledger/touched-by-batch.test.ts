import { type CapturedEvent, encodeCapturedRecord } from '@millrace/contracts';
import fc from 'fast-check';
import { type AdmittedEvent, admitEvent } from '../intake/admit-event.ts';
import { toIncomingEvent } from '../intake/to-incoming-event.ts';
import { parseHead, type UnparsedEvent } from '../intake/unparsed-event.ts';
import { arbitraryCaptured, testProject } from '../rule-cases/arbitrary-events.ts';
import { touchedBy } from './touched-by.ts';
import { touchedByBatch } from './touched-by-batch.ts';

const time = '2026-03-01T12:00:00.000Z';

function event(name: string, distinctId: string, properties: CapturedEvent['properties']): CapturedEvent {
  const uuid = '00000000-0000-4000-8000-000000000001';
  const token = testProject.token;
  return {
    kind: 'event',
    ...{ uuid, token, distinct_id: distinctId, event: name, timestamp: time, now: time, ip: null, properties },
  };
}

function unparsed(event: CapturedEvent): UnparsedEvent {
  const head = parseHead(encodeCapturedRecord(event));
  if (head === null) throw new Error('the head of a record of the gateway can be read');
  return head;
}

function admitted(received: CapturedEvent | UnparsedEvent): AdmittedEvent {
  const admission = admitEvent(received, testProject, { log: 'test', topic: 'events.live', partition: 0, offset: 0n });
  if (admission.kind === 'drop') throw new Error('the test made an event that is not admitted');
  return admission.event;
}

const knownIds = { has: (key: string) => key.startsWith('1:known') };

test.each<[string, CapturedEvent, string[]]>([
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
  for (const received of [one, unparsed(one)]) {
    expect([...touchedByBatch([admitted(received)], knownIds).contested].sort()).toEqual(contested);
  }
});

test('names each id once, also those that are not contested', () => {
  const events = [event('a', 'known', {}), event('b', 'known', {}), event('c', 'x', {})];
  const touched = touchedByBatch(
    events.map((one) => admitted(unparsed(one))),
    knownIds,
  );
  expect([...touched.distinctIds.values()]).toEqual([
    { projectId: 1, distinctId: 'known' },
    { projectId: 1, distinctId: 'x' },
  ]);
});

test.each<[string, CapturedEvent, number[]]>([
  ['an event in a group', event('bought', 'u', { $groups: { team: 'blue' } }), [1]],
  ['a group identify', event('$groupidentify', 'u', { $group_type: 'team', $group_key: 'blue' }), [1]],
  ['a group identify by its other name', event('$group_identify', 'u', { $group_type: 'a', $group_key: 'b' }), [1]],
  ['an event without', event('bought', 'u', { groups: { team: 'blue' } }), []],
])('looks for the group types of %s, read or not', (_, one, projects) => {
  for (const received of [one, unparsed(one)]) {
    expect(touchedByBatch([admitted(received)], knownIds).projectsWithGroups).toEqual(projects);
  }
});

test('names at least what touchedBy names, read or not', () => {
  fc.assert(
    fc.property(arbitraryCaptured, (one) => {
      const unparsedOne = parseHead(encodeCapturedRecord(one));
      if (unparsedOne === null) return;
      const incoming = toIncomingEvent(admitted(one));
      const exact = touchedBy(incoming);
      const peeked = touchedByBatch([admitted(unparsedOne)], knownIds);
      expect([...peeked.distinctIds.values()].map(({ distinctId }) => distinctId)).toEqual(exact.distinctIds);
      if (exact.groupTypes.length > 0) expect(peeked.projectsWithGroups).toEqual([testProject.id]);
      expect(peeked.contested).toEqual(touchedByBatch([admitted(one)], knownIds).contested);
    }),
  );
});
