import type { RuleCase } from './rule-case.ts';
import { eventTime, type RuleWorld, type SentEvent } from './rule-world.ts';

function groupIdentify(properties: Record<string, unknown>): SentEvent {
  return { event: '$groupidentify', distinct_id: 'u', properties };
}

const acme = { $group_type: 'org', $group_key: 'acme' };
const fiveTypes = ['a', 'b', 'c', 'd', 'e'];

function typesOf(world: RuleWorld): Record<string, number> {
  return Object.fromEntries([...world.ledger.groupTypes].map(([type, { index }]) => [type, index]));
}

export const groupCases: RuleCase[] = [
  {
    no: [104],
    is: 'new group types are assigned the next indexes',
    start: { groupTypes: ['foo'] },
    send: [{ event: 'e', distinct_id: 'u', properties: { $groups: { second: 'x', third: 'y' } } }],
    also: (world) => expect(typesOf(world)).toEqual({ foo: 0, second: 1, third: 2 }),
  },
  {
    is: 'a new group type is assigned the lowest free index',
    send: [{ event: 'e', distinct_id: 'u', properties: { $groups: { new: 'x' } } }],
    start: { groupTypes: ['a', 'b', 'c'] },
    also: (world) => {
      world.ledger.groupTypes = new Map([...world.ledger.groupTypes].filter(([type]) => type !== 'b'));
      world.send({ event: 'e', distinct_id: 'u', properties: { $groups: { newer: 'x' } } });
      expect(typesOf(world)).toEqual({ a: 0, c: 2, new: 3, newer: 1 });
    },
  },
  {
    no: [107],
    is: 'a sixth group type causes a warning: events are stored without it, and $groupidentify does not write a group',
    start: { groupTypes: fiveTypes },
    send: [
      { event: 'e', distinct_id: 'u', properties: { $groups: { sixth: 'x', a: 'y' } } },
      groupIdentify({ $group_type: 'sixth', $group_key: 'x', $group_set: { a: 1 } }),
    ],
    outcomes: [
      {
        row: { properties: { $groups: { sixth: 'x', a: 'y' }, $group_0: 'y' } },
        warnings: ['group_type_limit_exceeded'],
      },
      { warnings: ['group_type_limit_exceeded'] },
    ],
    also: (world) => {
      expect(Object.keys(typesOf(world))).toEqual(fiveTypes);
      expect(world.groups.size).toBe(0);
    },
  },
  ...(
    [
      [109, 'type', { $group_key: 'acme' }],
      [110, 'key', { $group_type: 'org' }],
      [110, 'key (empty)', { $group_type: 'org', $group_key: '' }],
      [110, 'key (0)', { $group_type: 'org', $group_key: 0 }],
      [109, 'type (an object)', { $group_type: {}, $group_key: 'acme' }],
    ] as const
  ).map(
    ([no, what, properties]): RuleCase => ({
      no: [no],
      is: `$groupidentify without a ${what} is stored, but does not write a group`,
      send: [groupIdentify({ ...properties, $group_set: { a: 1 } })],
      outcomes: [{}],
      also: (world) => expect(world.groups.size).toBe(0),
    }),
  ),
  {
    is: "$groupidentify creates the group and the sender's person, without setting person properties",
    send: [
      {
        ...groupIdentify({ ...acme, $group_set: { name: 'Acme' }, $set: { a: 1 }, $browser: 'Firefox' }),
        $set_once: { b: 1 },
      },
    ],
    persons: [{ ids: ['u'], properties: {} }],
    outcomes: [{ row: { properties: { ...acme, $group_set: { name: 'Acme' }, $browser: 'Firefox' } } }],
    also: (world) => {
      expect(world.group('org', 'acme')).toMatchObject({
        index: 0,
        key: 'acme',
        properties: { name: 'Acme' },
        version: 1,
        createdAtMs: Date.parse(eventTime),
        isNew: true,
        isDirty: true,
      });
    },
  },
  {
    is: '$group_identify is stored as $groupidentify',
    send: [{ ...groupIdentify({ ...acme, $group_set: { a: 1 } }), event: '$group_identify' }],
    outcomes: [{ row: { event: '$groupidentify' } }],
    also: (world) => expect(world.group('org', 'acme')?.properties).toEqual({ a: 1 }),
  },
  {
    is: 'an anonymous $groupidentify writes the group but no person',
    send: [groupIdentify({ ...acme, $group_set: { a: 1 }, $process_person_profile: false, $groups: { org: 'acme' } })],
    persons: [],
    outcomes: [{ properties: { $group_0: undefined } }],
    also: (world) => expect(world.group('org', 'acme')?.properties).toEqual({ a: 1 }),
  },
  {
    no: [111],
    is: 'group properties are updated key by key',
    start: { groupTypes: ['org'], groups: [{ index: 0, key: 'acme', properties: { a: 1, b: 2 } }] },
    send: [{ ...groupIdentify({ ...acme, $group_set: { foo: 'bar', a: 3 } }), timestamp: '2026-04-01T00:00:00.000Z' }],
    also: (world) => {
      expect(world.group('org', 'acme')).toMatchObject({
        properties: { a: 3, b: 2, foo: 'bar' },
        version: 2,
        createdAtMs: Date.parse(eventTime),
        isDirty: true,
        isNew: false,
      });
    },
  },
  {
    is: 'a group update without changes is not written; nested objects are replaced, not merged',
    start: { groupTypes: ['org'], groups: [{ index: 0, key: 'acme', properties: { o: { x: 1, y: 2 } } }] },
    send: [groupIdentify({ ...acme, $group_set: { o: { y: 2, x: 1 } } })],
    also: (world) => {
      expect(world.group('org', 'acme')).toMatchObject({ version: 1, isDirty: false });
      world.send(groupIdentify({ ...acme, $group_set: { o: { z: 3 } } }));
      expect(world.group('org', 'acme')).toMatchObject({ version: 2, properties: { o: { z: 3 } } });
      expect(world.group('org', 'acme')?.properties).toEqual({ o: { z: 3 } });
    },
  },
  {
    is: "if an event that is older than the group changes the group, the creation time is moved back to the event's time",
    start: { groupTypes: ['org'], groups: [{ index: 0, key: 'acme' }] },
    send: [{ ...groupIdentify({ ...acme, $group_set: { a: 1 } }), timestamp: '2025-01-01T00:00:00.000Z' }],
    also: (world) => expect(world.group('org', 'acme')?.createdAtMs).toBe(Date.parse('2025-01-01T00:00:00.000Z')),
  },
  {
    is: 'a group is never created in the future',
    send: [{ ...groupIdentify(acme), timestamp: '2026-03-01T13:00:00.000Z', now: eventTime }],
    also: (world) => expect(world.group('org', 'acme')?.createdAtMs).toBe(Date.parse(eventTime)),
  },
  ...[{ $group_set: null }, {}].map(
    (properties): RuleCase => ({
      no: [112],
      is: `$group_set ${'$group_set' in properties ? 'null' : 'absent'} creates a group without properties`,
      send: [groupIdentify({ ...acme, ...properties })],
      also: (world) => expect(world.group('org', 'acme')).toMatchObject({ properties: {}, version: 1 }),
    }),
  ),
  ...(
    [
      ['text', 'string'],
      [7, 'number'],
      [true, 'boolean'],
      [['a'], 'array'],
    ] as const
  ).map(
    ([groupSet, receivedType]): RuleCase => ({
      no: [113],
      is: `$group_set of type ${receivedType} does not write a group and causes a warning`,
      send: [groupIdentify({ ...acme, $group_set: groupSet })],
      outcomes: [{ warnings: ['invalid_group_set'] }],
      also: (world) => {
        expect(world.groups.size).toBe(0);
        const [warning] = world.send(groupIdentify({ ...acme, $group_set: groupSet })).warnings;
        expect(warning?.details).toMatchObject({ receivedType });
      },
    }),
  ),
  {
    no: [114],
    is: 'a group key of 400 characters is accepted, but an event with a group key of 401 characters is dropped',
    send: [399, 400, 401].map((length) => groupIdentify({ $group_type: 'org', $group_key: 'k'.repeat(length) })),
    outcomes: [{}, {}, { dropped: 'group_key_too_long', warnings: ['group_key_too_long'] }],
    also: (world) => expect(world.groups.size).toBe(2),
  },
  {
    is: 'a number as group key is treated as a string',
    send: [groupIdentify({ $group_type: 'org', $group_key: 42 })],
    also: (world) => expect(world.group('org', '42')).toBeDefined(),
  },
  {
    is: 'two group types can have the same key',
    send: [groupIdentify({ ...acme, $group_set: { a: 1 } }), groupIdentify({ ...acme, $group_type: 'team' })],
    also: (world) => {
      expect(world.group('org', 'acme')?.properties).toEqual({ a: 1 });
      expect(world.group('team', 'acme')?.properties).toEqual({});
    },
  },
  {
    is: 'a group type of more than 400 characters is not assigned an index and causes a warning, with or without $groupidentify',
    send: [
      groupIdentify({ $group_type: 't'.repeat(401), $group_key: 'x' }),
      {
        event: 'e',
        distinct_id: 'u',
        properties: { $groups: { ['t'.repeat(401)]: 'x', ['s'.repeat(401)]: 'y', org: 'z' } },
      },
    ],
    outcomes: [
      { warnings: ['group_type_too_long'] },
      { warnings: ['group_type_too_long'], properties: { $group_0: 'z' } },
    ],
    also: (world) => expect(typesOf(world)).toEqual({ org: 0 }),
  },
  {
    no: [115],
    is: '$groups assigns the event to groups and creates group types, but does not create groups',
    send: [{ event: 'e', distinct_id: 'u', properties: { $groups: { org: 'x', project: 'y' }, $group_0: 'client' } }],
    outcomes: [{ row: { properties: { $groups: { org: 'x', project: 'y' }, $group_0: 'x', $group_1: 'y' } } }],
    also: (world) => {
      expect(typesOf(world)).toEqual({ org: 0, project: 1 });
      expect(world.ledger.groupTypes.get('org')).toEqual({ index: 0, createdAtMs: Date.parse(eventTime), isNew: true });
      expect(world.groups.size).toBe(0);
    },
  },
  {
    no: [116],
    is: 'in an anonymous event, $groups is stored only as an event property',
    send: [{ event: 'e', distinct_id: 'u', properties: { $process_person_profile: false, $groups: { org: 'x' } } }],
    outcomes: [{ properties: { $groups: { org: 'x' }, $group_0: undefined } }],
    also: (world) => expect(world.ledger.groupTypes.size).toBe(0),
  },
  ...[null, 'org', ['org'], 7].map(
    (groups): RuleCase => ({
      is: `the $groups value ${JSON.stringify(groups)} is ignored`,
      send: [{ event: 'e', distinct_id: 'u', properties: { $groups: groups } }],
      outcomes: [{ row: { properties: { $groups: groups } } }],
      also: (world) => expect(world.ledger.groupTypes.size).toBe(0),
    }),
  ),
  {
    no: [117],
    is: '$group_0 and $group_1 properties from the client are kept if the event has a person',
    send: [
      groupIdentify(acme),
      groupIdentify({ ...acme, $group_type: 'team' }),
      { event: 'e', distinct_id: 'u', properties: { $group_0: 'acme', $group_1: 'blue' } },
    ],
    outcomes: [{}, {}, { row: { properties: { $group_0: 'acme', $group_1: 'blue' } } }],
  },
  {
    is: 'an empty group type is ignored',
    send: [{ event: 'e', distinct_id: 'u', properties: { $groups: { '': 'x' } } }],
    outcomes: [{ properties: { $group_0: undefined } }],
    also: (world) => expect(world.ledger.groupTypes.size).toBe(0),
  },
  {
    is: '__proto__ is a valid group type',
    send: [
      { event: 'e', distinct_id: 'u', properties: { $groups: JSON.parse('{"__proto__":"x"}') } },
      groupIdentify({ $group_type: '__proto__', $group_key: '__proto__', $group_set: JSON.parse('{"__proto__":1}') }),
    ],
    outcomes: [{ properties: { $group_0: 'x' } }, {}],
    also: (world) => {
      expect(JSON.stringify(world.group('__proto__', '__proto__')?.properties)).toBe('{"__proto__":1}');
    },
  },
];
