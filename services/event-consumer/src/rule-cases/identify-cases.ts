import { personMode } from '../model/event.ts';
import type { RuleCase } from './rule-case.ts';
import { createRuleWorld, type SentEvent } from './rule-world.ts';

export function identify(anonymousId: unknown, distinctId: string, properties = {}): SentEvent {
  return { event: '$identify', distinct_id: distinctId, properties: { $anon_distinct_id: anonymousId, ...properties } };
}

const anonymous = { $process_person_profile: false };

export const identifyCases: RuleCase[] = [
  {
    no: [37],
    is: '$identify without $anon_distinct_id only updates properties and does not mark the person as identified',
    send: [{ event: '$identify', distinct_id: 'u', properties: { $set: { a: 1 } } }],
    persons: [{ ids: ['u'], properties: { a: 1 }, isIdentified: false, version: 0 }],
  },
  {
    is: '$identify with only $set also writes volatile properties',
    start: { persons: [{ ids: ['u'], properties: { $browser: 'x' } }] },
    send: [{ event: '$identify', distinct_id: 'u', properties: { $set: { $browser: 'y' } } }],
    persons: [{ ids: ['u'], properties: { $browser: 'y' }, isIdentified: false, version: 1 }],
  },
  {
    no: [38],
    is: 'if neither ID has a person, one person is created with both IDs',
    send: [identify('anon', 'u', { $set: { foo: 'bar' } })],
    persons: [
      { ids: ['u', 'anon'], uuidOf: 'u', mainId: 'u', isIdentified: true, properties: { foo: 'bar' }, version: 0 },
    ],
    outcomes: [{ personOf: 'u' }],
    also: (world) => {
      expect(world.ledger.distinctIds.get('u')?.version).toBe(0);
      expect(world.ledger.distinctIds.get('anon')?.version).toBe(1);
    },
  },
  {
    no: [39],
    is: 'if both IDs belong to the same person, no persons are merged, but the person becomes identified',
    start: { persons: [{ ids: ['u', 'anon'] }] },
    send: [identify('anon', 'u')],
    persons: [{ ids: ['u', 'anon'], isIdentified: true, version: 1 }],
  },
  {
    no: [40],
    is: "if the user has a person and the anonymous ID is new, the anonymous ID is added to the user's person",
    start: { persons: [{ ids: ['u'] }] },
    send: [identify('anon', 'u')],
    persons: [{ ids: ['u', 'anon'], uuidOf: 'u', isIdentified: true, version: 1 }],
  },
  {
    no: [41],
    is: 'if the anonymous ID has a person and the user ID is new, the user ID is added to that person and becomes the main ID',
    start: { persons: [{ ids: ['anon'] }] },
    send: [identify('anon', 'u')],
    persons: [{ ids: ['u', 'anon'], uuidOf: 'anon', mainId: 'u', isIdentified: true, version: 1 }],
    outcomes: [{ personOf: 'anon' }],
  },
  {
    no: [42],
    is: "if neither person is identified, both are merged into the user's person, with the earlier creation time",
    start: {
      persons: [{ ids: ['u'] }, { ids: ['anon'], createdAt: '2025-05-05T00:00:00.000Z' }],
    },
    send: [identify('anon', 'u')],
    persons: [
      { ids: ['u', 'anon'], uuidOf: 'u', isIdentified: true, version: 1, createdAt: '2025-05-05T00:00:00.000Z' },
    ],
    also: (world) => {
      expect(world.ledger.mergedPersons).toEqual(new Map([[world.uuidOf('anon'), world.uuidOf('u')]]));
      expect(world.ledger.distinctIds.get('anon')).toMatchObject({ version: 1, isNew: false });
      expect(world.ledger.distinctIds.get('u')?.version).toBe(0);
    },
  },
  {
    no: [43],
    is: "an anonymous person is merged into an identified user's person",
    start: { persons: [{ ids: ['u'], isIdentified: true }, { ids: ['anon'] }] },
    send: [identify('anon', 'u')],
    persons: [{ ids: ['u', 'anon'], uuidOf: 'u', isIdentified: true, version: 1 }],
  },
  {
    no: [44],
    is: 'if the source person is identified, the merge is rejected, but the user becomes identified',
    start: { persons: [{ ids: ['u'] }, { ids: ['other'], isIdentified: true, properties: { a: 1 } }] },
    send: [identify('other', 'u', { $set: { b: 1 } })],
    persons: [
      { ids: ['u'], isIdentified: true, properties: { b: 1 }, version: 1 },
      { ids: ['other'], properties: { a: 1 }, version: 0 },
    ],
    outcomes: [{ personOf: 'u', warnings: ['cannot_merge_already_identified'] }],
  },
  {
    no: [45],
    is: 'if both persons are identified, the merge is rejected and neither person changes',
    start: {
      persons: [
        { ids: ['u'], isIdentified: true },
        { ids: ['other'], isIdentified: true },
      ],
    },
    send: [identify('other', 'u')],
    persons: [
      { ids: ['u'], version: 0 },
      { ids: ['other'], version: 0 },
    ],
    outcomes: [{ warnings: ['cannot_merge_already_identified'] }],
    also: (world) => expect(world.personOf('u')?.isDirty).toBe(false),
  },
  {
    no: [46],
    is: "the target's properties override the source's properties, $set overrides both, and $set_once adds missing properties",
    start: {
      persons: [
        { ids: ['u'], properties: { b: 3, c: 4, d: 5 }, version: 2 },
        { ids: ['anon'], properties: { a: 1, b: 2 }, version: 7 },
      ],
    },
    send: [identify('anon', 'u', { $set: { d: 6, e: 7 }, $set_once: { a: 8, f: 9 } })],
    persons: [{ ids: ['u', 'anon'], properties: { a: 1, b: 3, c: 4, d: 6, e: 7, f: 9 }, version: 8 }],
    outcomes: [{ row: { personProperties: { a: 1, b: 3, c: 4, d: 6, e: 7, f: 9 } } }],
  },
  {
    no: [48],
    is: 'if both IDs are equal, no persons are merged, no warning is added, and the person does not become identified',
    send: [identify('u', 'u')],
    persons: [{ ids: ['u'], isIdentified: false }],
    outcomes: [{}],
  },
  {
    no: [49],
    is: 'when an anonymous person is merged into a user with an email address, the email address is kept',
    send: [
      { event: 'e', distinct_id: 'anonymous_id' },
      { event: 'e', distinct_id: 'new_distinct_id', properties: { $set: { email: 'someone@example.com' } } },
      identify('anonymous_id', 'new_distinct_id'),
    ],
    persons: [
      {
        ids: ['anonymous_id', 'new_distinct_id'],
        isIdentified: true,
        properties: { email: 'someone@example.com' },
      },
    ],
  },
  {
    no: [50],
    is: 'a second anonymous person can be merged into the same user',
    send: [
      { event: 'e', distinct_id: 'a1' },
      identify('a1', 'u'),
      { event: 'e', distinct_id: 'a2' },
      identify('a2', 'u'),
    ],
    persons: [{ ids: ['a1', 'a2', 'u'], isIdentified: true }],
  },
  {
    no: [51],
    is: 'the same IDs in another project are not affected',
    send: [{ event: 'e', distinct_id: 'anon' }, { event: 'e', distinct_id: 'u' }, identify('anon', 'u')],
    persons: [{ ids: ['anon', 'u'] }],
    also: () => {
      const other = createRuleWorld({ project: { id: 2 }, persons: [{ ids: ['anon'] }, { ids: ['u'] }] });
      const before = structuredClone(other.ledger);
      createRuleWorld({ project: { id: 1 } }).send(identify('anon', 'u'));
      expect(other.ledger).toEqual(before);
    },
  },
  ...[true, false].map(
    (hasFirstEvent): RuleCase => ({
      no: [hasFirstEvent ? 52 : 53],
      is: `two devices with two users result in two persons, ${hasFirstEvent ? 'with' : 'without'} an event before the first $identify`,
      send: [
        ...(hasFirstEvent ? [{ event: 'e1', distinct_id: 'anon' }] : []),
        identify('anon', 'u1'),
        { event: 'e2', distinct_id: 'u1' },
        { event: 'e3', distinct_id: 'p2' },
        identify('p2', 'p2new'),
        { event: 'e4', distinct_id: 'p2new' },
        identify('p2new', 'u1'),
      ],
      persons: [
        { ids: ['anon', 'u1'], isIdentified: true },
        { ids: ['p2', 'p2new'], isIdentified: true },
      ],
      outcomes: [
        ...(hasFirstEvent ? [{ personOf: 'anon' }] : []),
        ...Array.from({ length: 2 }, () => ({ personOf: hasFirstEvent ? 'anon' : 'u1' })),
        ...Array.from({ length: 3 }, () => ({ personOf: 'p2' })),
        { personOf: hasFirstEvent ? 'anon' : 'u1', warnings: ['cannot_merge_already_identified' as const] },
      ],
    }),
  ),
  ...[
    ['u1', 'u2'],
    ['u2', 'u1'],
  ].map(
    ([first = '', second = '']): RuleCase => ({
      no: [54],
      is: `if an anonymous ID is identified as two users, ${first} first, the two users are never merged`,
      send: [
        { event: 'e', distinct_id: 'anon' },
        { event: 'e', distinct_id: 'u1' },
        { event: 'e', distinct_id: 'u2' },
        identify('anon', first),
        identify('anon', second),
      ],
      persons: [
        { ids: ['anon', first], isIdentified: true },
        { ids: [second], isIdentified: true },
      ],
    }),
  ),
  {
    no: [55],
    is: 'if an ID was used in anonymous events and is then identified, the version of its mapping is 1, so that earlier events belong to the person',
    send: [{ event: 'e', distinct_id: 'anon', properties: anonymous }, identify('anon', 'u')],
    persons: [{ ids: ['anon', 'u'], uuidOf: 'u' }],
    outcomes: [{ personOf: 'anon' }, { personOf: 'u' }],
    also: (world) => expect(world.ledger.distinctIds.get('anon')?.version).toBe(1),
  },
  {
    no: [56],
    is: 'an anonymous event five minutes after $identify belongs to the identified person, but does not contain person properties',
    send: [
      identify('anon', 'u', { $set: { a: 1 } }),
      { event: 'e', distinct_id: 'anon', properties: anonymous, timestamp: '2026-03-01T12:05:00.000Z' },
    ],
    outcomes: [
      {},
      {
        personOf: 'u',
        row: {
          personMode: personMode.forceUpgrade,
          personProperties: {},
          personCreatedAtMs: Date.parse('2026-03-01T12:00:00.000Z'),
        },
      },
    ],
  },
  {
    no: [57],
    is: 'in a project without person processing, an anonymous event from a known person is stored with person_mode 1',
    start: { project: { personProcessingOptOut: true }, persons: [{ ids: ['u'] }] },
    send: [{ event: 'e', distinct_id: 'u', properties: anonymous }],
    outcomes: [{ personOf: 'u', row: { personMode: personMode.propertyless } }],
  },
  {
    no: [58],
    is: 'an event and a later $identify event from the same sender belong to the same person',
    send: [{ event: 'e', distinct_id: 'anon' }, identify('anon', 'u')],
    outcomes: [{ personOf: 'anon' }, { personOf: 'anon' }],
  },
  {
    is: 'a new ID is added to an identified person',
    send: [identify('anon', 'id1'), identify('id1', 'id2')],
    persons: [{ ids: ['anon', 'id1', 'id2'], uuidOf: 'id1', mainId: 'id2', isIdentified: true }],
    outcomes: [{}, {}],
  },
  {
    is: 'an explicit null is an illegal ID: it causes a warning and no merge, but the properties are set',
    send: [identify(null, 'u', { $set: { a: 1 } })],
    persons: [{ ids: ['u'], isIdentified: false, properties: { a: 1 } }],
    outcomes: [{ warnings: ['cannot_merge_with_illegal_distinct_id'] }],
    also: (world) => {
      const [warning] = world.send(identify(null, 'u')).warnings;
      expect(warning?.details).toMatchObject({ illegalDistinctId: 'null', otherDistinctId: 'u', event: '$identify' });
    },
  },
  {
    is: 'identifying two IDs that already belong to one person does not change the main ID',
    start: { persons: [{ ids: ['main', 'u', 'anon'], isIdentified: true }] },
    send: [identify('anon', 'u')],
    persons: [{ ids: ['main', 'u', 'anon'], mainId: 'main', version: 0 }],
  },
  {
    is: 'after a chain of merges in one batch, all stored IDs point to the last remaining person, and the moves are counted',
    start: { persons: [{ ids: ['a'] }, { ids: ['b'] }, { ids: ['c'] }] },
    send: [
      { event: '$merge_dangerously', distinct_id: 'b', properties: { alias: 'a' } },
      { event: '$merge_dangerously', distinct_id: 'c', properties: { alias: 'b' } },
    ],
    persons: [{ ids: ['a', 'b', 'c'], uuidOf: 'c', version: 2 }],
    also: (world) => {
      const [a, b, c] = ['a', 'b', 'c'].map(world.uuidOf);
      expect(world.ledger.mergedPersons).toEqual(
        new Map([
          [a, c],
          [b, c],
        ]),
      );
      expect(world.ledger.mergedPersonMoves).toEqual(
        new Map([
          [a, 2],
          [b, 1],
        ]),
      );
      expect(world.ledger.distinctIds.get('a')?.version).toBe(2);
      expect(world.ledger.distinctIds.get('b')?.version).toBe(1);
    },
  },
  {
    is: 'a person that is created and merged away in the same batch does not have to be deleted',
    start: { persons: [{ ids: ['u'] }] },
    send: [{ event: 'e', distinct_id: 'anon' }, identify('anon', 'u')],
    persons: [{ ids: ['anon', 'u'] }],
    also: (world) => {
      expect(world.ledger.mergedPersons.size).toBe(0);
      expect(world.ledger.distinctIds.get('anon')).toEqual({
        personUuid: world.uuidOf('u'),
        version: 1,
        isNew: true,
      });
    },
  },
  {
    is: 'a person that was created from a distinct ID and no longer has it gets it back',
    start: { persons: [{ ids: ['other'], uuidOf: 'u', properties: { a: 1 } }] },
    send: [{ event: 'e', distinct_id: 'u' }],
    persons: [{ ids: ['other', 'u'], uuidOf: 'u', properties: { a: 1 }, version: 0 }],
    also: (world) => expect(world.ledger.distinctIds.get('u')?.version).toBe(0),
  },
];
