import { personMode } from '../model/event.ts';
import type { RuleCase } from './rule-case.ts';
import { createRuleWorld, eventTime } from './rule-world.ts';

export const creationCases: RuleCase[] = [
  {
    no: [1],
    is: 'an ordinary event with a new distinct ID creates a person',
    send: [{ event: 'bought', distinct_id: 'u', uuid: '11111111-1111-4111-8111-111111111111' }],
    persons: [{ ids: ['u'], uuidOf: 'u', mainId: 'u', createdAt: eventTime, version: 0, isIdentified: false }],
    outcomes: [{ personOf: 'u', row: { personMode: personMode.full, personCreatedAtMs: Date.parse(eventTime) } }],
    also: (world) => {
      expect(world.personOf('u')?.properties).toEqual({ $creator_event_uuid: '11111111-1111-4111-8111-111111111111' });
      expect(world.ledger.distinctIds.get('u')).toEqual({
        personUuid: world.uuidOf('u'),
        version: 0,
        isNew: true,
      });
    },
  },
  {
    no: [2],
    is: 'the same distinct ID in two projects creates two persons',
    send: [{ event: 'bought', distinct_id: 'u' }],
    also: (world) => {
      const other = createRuleWorld({ project: { id: 2 } });
      other.send({ event: 'bought', distinct_id: 'u' });
      expect(other.personOf('u')?.uuid).toBeDefined();
      expect(other.personOf('u')?.uuid).not.toBe(world.personOf('u')?.uuid);
    },
  },
  {
    no: [3],
    is: 'a new person is written once, with $set_once overridden by $set',
    send: [{ event: 'e', distinct_id: 'u', properties: { $set_once: { a: 1, b: 2 }, $set: { b: 3, c: 4 } } }],
    persons: [{ ids: ['u'], properties: { a: 1, b: 3, c: 4 }, version: 0 }],
  },
  {
    no: [4],
    is: 'a NUL character in a property, key or ID is stored as U+FFFD',
    send: [
      { event: 'e\u0000', distinct_id: 'u\u0000', properties: { $set: { 'k\u0000': ['a\u0000b', { c: '\ud800' }] } } },
    ],
    persons: [{ ids: ['u\ufffd'], properties: { 'k\ufffd': ['a\ufffdb', { c: '\ufffd' }] } }],
    outcomes: [{ row: { event: 'e\ufffd', distinctId: 'u\ufffd' } }],
  },
  {
    no: [5],
    is: 'an anonymous event with a new distinct ID is stored with a computed person UUID, but does not create a person',
    send: [{ event: 'e', distinct_id: 'u', properties: { $process_person_profile: false, $set: { a: 1 } } }],
    persons: [],
    outcomes: [
      {
        personOf: 'u',
        // PostHog stores a made-up creation time, five seconds after the epoch. Millrace stores no creation time.
        row: { personMode: personMode.propertyless, personProperties: {}, personCreatedAtMs: null },
        properties: { $process_person_profile: false, $set: undefined },
      },
    ],
    also: (world) => expect(world.ledger.distinctIds.size).toBe(0),
  },
  {
    no: [6],
    is: 'an anonymous event from an existing person does not contain person properties',
    start: { persons: [{ ids: ['u'], properties: { c: 420 } }] },
    send: [{ event: 'e', distinct_id: 'u', properties: { $process_person_profile: false } }],
    outcomes: [{ personOf: 'u', row: { personProperties: {} } }],
  },
  {
    no: [7],
    is: "an ordinary event from an existing person contains the person's properties",
    start: { persons: [{ ids: ['u'], properties: { c: 420, $creator_event_uuid: 'x' } }] },
    send: [{ event: 'e', distinct_id: 'u' }],
    outcomes: [{ row: { personProperties: { c: 420, $creator_event_uuid: 'x' } } }],
  },
  {
    no: [8],
    is: 'an event that does not set properties does not change an existing person',
    start: { persons: [{ ids: ['u'], properties: { a: 1 }, version: 3 }] },
    send: [{ event: 'e', distinct_id: 'u' }],
    persons: [{ ids: ['u'], properties: { a: 1 }, version: 3 }],
    also: (world) => expect(world.personOf('u')?.isDirty).toBe(false),
  },
  {
    no: [9],
    is: 'an event that would create a person updates the person if it already exists',
    start: { persons: [{ ids: ['u'], properties: { b: 3, c: 4 } }] },
    send: [{ event: 'e', distinct_id: 'u', properties: { $set_once: { c: 3, e: 4 }, $set: { b: 4 } } }],
    persons: [{ ids: ['u'], properties: { b: 4, c: 4, e: 4 }, version: 1 }],
  },
  {
    is: 'the creator event cannot be overridden when a person is created',
    send: [{ event: 'e', distinct_id: 'u', properties: { $set: { $creator_event_uuid: 'mine' } } }],
    also: (world) => expect(world.personOf('u')?.properties.$creator_event_uuid).toMatch(/^0{8}-/),
  },
  {
    is: 'a person created by $exception has the properties from the event',
    send: [{ event: '$exception', distinct_id: 'u', properties: { $set: { a: 1 } } }],
    persons: [{ ids: ['u'], properties: { a: 1 }, version: 0 }],
  },
  {
    is: 'a value of $process_person_profile that is not a boolean counts as true and causes a warning',
    send: [{ event: 'e', distinct_id: 'u', properties: { $process_person_profile: 'false' } }],
    persons: [{ ids: ['u'] }],
    outcomes: [{ warnings: ['invalid_process_person_profile'], properties: { $process_person_profile: undefined } }],
  },
  {
    is: '$process_person_profile true is not stored',
    send: [{ event: 'e', distinct_id: 'u', properties: { $process_person_profile: true } }],
    persons: [{ ids: ['u'] }],
    outcomes: [{ properties: { $process_person_profile: undefined } }],
  },
  ...['$identify', '$create_alias', '$merge_dangerously'].map(
    (event): RuleCase => ({
      is: `${event} requires a person, so without person processing it is dropped with a warning`,
      send: [
        { event, distinct_id: 'u', properties: { $process_person_profile: false, $anon_distinct_id: 'a', alias: 'a' } },
      ],
      persons: [],
      outcomes: [
        { dropped: 'invalid_event_for_flags', warnings: ['invalid_event_when_process_person_profile_is_false'] },
      ],
    }),
  ),
  {
    is: 'in a project without person processing, every event is marked as anonymous, including merge events',
    start: { project: { personProcessingOptOut: true } },
    send: [
      { event: 'e', distinct_id: 'u', properties: { $set: { a: 1 } } },
      { event: '$identify', distinct_id: 'u', properties: { $anon_distinct_id: 'a' } },
    ],
    persons: [],
    outcomes: [
      { personOf: 'u', properties: { $process_person_profile: false, $set: undefined } },
      { personOf: 'u', properties: { $process_person_profile: false } },
    ],
  },
];
