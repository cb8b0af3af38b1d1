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
    is: 'without $anon_distinct_id it is a property update and identifies nobody',
    send: [{ event: '$identify', distinct_id: 'u', properties: { $set: { a: 1 } } }],
    persons: [{ ids: ['u'], properties: { a: 1 }, isIdentified: false, version: 0 }],
  },
  {
    is: 'with $set only, it writes even filtered properties',
    start: { persons: [{ ids: ['u'], properties: { $browser: 'x' } }] },
    send: [{ event: '$identify', distinct_id: 'u', properties: { $set: { $browser: 'y' } } }],
    persons: [{ ids: ['u'], properties: { $browser: 'y' }, isIdentified: false, version: 1 }],
  },
  {
    no: [38],
    is: 'neither id exists: one person with both',
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
    is: 'both ids on one person: no merge, but identified now',
    start: { persons: [{ ids: ['u', 'anon'] }] },
    send: [identify('anon', 'u')],
    persons: [{ ids: ['u', 'anon'], isIdentified: true, version: 1 }],
  },
  {
    no: [40],
    is: 'the user exists, the anonymous id is new: it is added',
    start: { persons: [{ ids: ['u'] }] },
    send: [identify('anon', 'u')],
    persons: [{ ids: ['u', 'anon'], uuidOf: 'u', isIdentified: true, version: 1 }],
  },
  {
    no: [41],
    is: 'the anonymous person exists, the user is new: the user joins it and becomes its main id',
    start: { persons: [{ ids: ['anon'] }] },
    send: [identify('anon', 'u')],
    persons: [{ ids: ['u', 'anon'], uuidOf: 'anon', mainId: 'u', isIdentified: true, version: 1 }],
    outcomes: [{ personOf: 'anon' }],
  },
  {
    no: [42],
    is: 'both exist, neither identified: merged into the user, the older creation time stays',
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
    is: 'an identified user takes an anonymous person',
    start: { persons: [{ ids: ['u'], isIdentified: true }, { ids: ['anon'] }] },
    send: [identify('anon', 'u')],
    persons: [{ ids: ['u', 'anon'], uuidOf: 'u', isIdentified: true, version: 1 }],
  },
  {
    no: [44],
    is: 'an identified source is refused; the user counts as identified all the same',
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
    is: 'both identified: refused, nothing changes',
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
    is: 'properties: the target beats the source, $set beats both, $set_once fills gaps',
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
    is: 'both ids alike: nothing is merged or reported, nobody identified',
    send: [identify('u', 'u')],
    persons: [{ ids: ['u'], isIdentified: false }],
    outcomes: [{}],
  },
  {
    no: [49],
    is: 'an anonymous person joins a user with an e-mail, which stays',
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
    is: 'a second anonymous person joins the same user',
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
    is: 'the same ids of another project are not touched',
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
      is: `two devices, two users ${hasFirstEvent ? 'with' : 'without'} an event before the first identify`,
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
      is: `one anonymous id identified as two users, ${first} first: never one person`,
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
    is: 'an id used anonymously, then identified: its mapping has version 1, and its old events find the person by it',
    send: [{ event: 'e', distinct_id: 'anon', properties: anonymous }, identify('anon', 'u')],
    persons: [{ ids: ['anon', 'u'], uuidOf: 'u' }],
    outcomes: [{ personOf: 'anon' }, { personOf: 'u' }],
    also: (world) => expect(world.ledger.distinctIds.get('anon')?.version).toBe(1),
  },
  {
    no: [56],
    is: 'an anonymous event five minutes after the identify is upgraded to the real person, without its properties',
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
    is: 'the same in a project that opted out: no upgrade',
    start: { project: { personProcessingOptOut: true }, persons: [{ ids: ['u'] }] },
    send: [{ event: 'e', distinct_id: 'u', properties: anonymous }],
    outcomes: [{ personOf: 'u', row: { personMode: personMode.propertyless } }],
  },
  {
    no: [58],
    is: 'an event and the identify that names its sender belong to one person',
    send: [{ event: 'e', distinct_id: 'anon' }, identify('anon', 'u')],
    outcomes: [{ personOf: 'anon' }, { personOf: 'anon' }],
  },
  {
    is: 'an id nobody has seen joins an identified person without being asked',
    send: [identify('anon', 'id1'), identify('id1', 'id2')],
    persons: [{ ids: ['anon', 'id1', 'id2'], uuidOf: 'id1', mainId: 'id2', isIdentified: true }],
    outcomes: [{}, {}],
  },
  {
    is: 'an explicit null is an illegal id: reported, not merged, the properties still set',
    send: [identify(null, 'u', { $set: { a: 1 } })],
    persons: [{ ids: ['u'], isIdentified: false, properties: { a: 1 } }],
    outcomes: [{ warnings: ['cannot_merge_with_illegal_distinct_id'] }],
    also: (world) => {
      const [warning] = world.send(identify(null, 'u')).warnings;
      expect(warning?.details).toMatchObject({ illegalDistinctId: 'null', otherDistinctId: 'u', event: '$identify' });
    },
  },
  {
    is: 'ids of one person identified again leave its main id alone',
    start: { persons: [{ ids: ['main', 'u', 'anon'], isIdentified: true }] },
    send: [identify('anon', 'u')],
    persons: [{ ids: ['main', 'u', 'anon'], mainId: 'main', version: 0 }],
  },
  {
    is: 'a chain of merges in one batch leaves every stored person pointing at the last survivor, moves counted',
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
    is: 'a person both created and merged away in one batch leaves nothing to delete',
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
    is: 'the person a distinct id once made, alive without the id, gets it back',
    start: { persons: [{ ids: ['other'], uuidOf: 'u', properties: { a: 1 } }] },
    send: [{ event: 'e', distinct_id: 'u' }],
    persons: [{ ids: ['other', 'u'], uuidOf: 'u', properties: { a: 1 }, version: 0 }],
    also: (world) => expect(world.ledger.distinctIds.get('u')?.version).toBe(0),
  },
];
