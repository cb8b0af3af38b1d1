import { identify } from './identify-cases.ts';
import type { RuleCase } from './rule-case.ts';
import type { SentEvent } from './rule-world.ts';

function alias(distinctId: string, aliasValue: unknown, properties = {}): SentEvent {
  return { event: '$create_alias', distinct_id: distinctId, properties: { alias: aliasValue, ...properties } };
}

function mergeDangerously(distinctId: string, aliasValue: unknown, properties = {}): SentEvent {
  return { event: '$merge_dangerously', distinct_id: distinctId, properties: { alias: aliasValue, ...properties } };
}

/** PostHog merges an alias in the opposite direction. In Millrace, the person of the alias survives. */
export const aliasCases: RuleCase[] = [
  {
    no: [59],
    is: 'if only the alias has a person, the distinct ID is added to that person',
    start: { persons: [{ ids: ['old'] }] },
    send: [alias('new', 'old')],
    persons: [{ ids: ['new', 'old'], uuidOf: 'old', mainId: 'old', isIdentified: true, version: 1 }],
  },
  {
    no: [60],
    is: 'if only the distinct ID has a person, the alias is added to that person and becomes the main ID',
    start: { persons: [{ ids: ['old'] }] },
    send: [alias('old', 'new')],
    persons: [{ ids: ['new', 'old'], uuidOf: 'old', mainId: 'new', isIdentified: true, version: 1 }],
  },
  {
    no: [61],
    is: 'if two existing IDs are aliased to the same new ID, their persons are merged',
    start: { persons: [{ ids: ['old'] }] },
    send: [alias('new', 'old'), { event: 'e', distinct_id: 'old2' }, alias('new', 'old2')],
    persons: [{ ids: ['new', 'old', 'old2'], uuidOf: 'old2', mainId: 'old2', isIdentified: true }],
  },
  {
    no: [62],
    is: 'if neither ID has a person, one person is created from the alias (in PostHog, from the distinct ID)',
    send: [alias('new', 'old')],
    persons: [{ ids: ['new', 'old'], uuidOf: 'old', mainId: 'old', isIdentified: true, version: 0 }],
    outcomes: [{ personOf: 'old', row: { distinctId: 'new' } }],
    also: (world) => expect(world.ledger.distinctIds.get('new')?.version).toBe(1),
  },
  {
    no: [63],
    is: 'if both IDs have a person, the person with the alias remains (in PostHog, the person with the distinct ID)',
    start: { persons: [{ ids: ['new'] }, { ids: ['old'] }] },
    send: [alias('new', 'old')],
    persons: [{ ids: ['new', 'old'], uuidOf: 'old', mainId: 'old', isIdentified: true, version: 1 }],
  },
  {
    no: [64],
    is: 'if properties conflict, the person with the alias takes precedence (in PostHog, the person with the distinct ID), and $set applies to the remaining person',
    start: {
      persons: [
        { ids: ['new'], properties: { both: 'n', new: 1 } },
        { ids: ['old'], properties: { both: 'o', old: 1 } },
      ],
    },
    send: [alias('new', 'old', { $set: { set: 1 } })],
    persons: [{ ids: ['new', 'old'], uuidOf: 'old', properties: { both: 'o', new: 1, old: 1, set: 1 } }],
  },
  {
    no: [65],
    is: 'if both IDs belong to the same person, no persons are merged, and the alias becomes the main ID',
    send: [identify('anon', 'id1'), { event: 'e', distinct_id: 'id1' }, identify('id1', 'id2'), alias('id1', 'id2')],
    persons: [{ ids: ['anon', 'id1', 'id2'], isIdentified: true, mainId: 'id2' }],
  },
  {
    no: [66],
    is: 'an anonymous ID can be aliased to an identified user',
    send: [{ event: '$identify', distinct_id: 'u' }, { event: 'e', distinct_id: 'anon' }, alias('anon', 'u')],
    persons: [{ ids: ['anon', 'u'], uuidOf: 'u', isIdentified: true }],
  },
  {
    no: [67],
    is: 'two unidentified persons can be aliased',
    send: [{ event: 'e', distinct_id: 'a' }, { event: 'e', distinct_id: 'b' }, alias('a', 'b')],
    persons: [{ ids: ['a', 'b'], isIdentified: true }],
  },
  {
    no: [68],
    is: 'two new IDs can be aliased',
    send: [alias('a', 'b')],
    persons: [{ ids: ['a', 'b'], isIdentified: true }],
  },
  {
    is: 'a repeated or reversed $create_alias event only changes the main ID',
    start: { persons: [{ ids: ['a'] }, { ids: ['b'] }] },
    send: [alias('a', 'b'), alias('a', 'b'), alias('b', 'a')],
    persons: [{ ids: ['a', 'b'], uuidOf: 'b', mainId: 'a', version: 2 }],
  },
  ...(
    [
      [true, false],
      [false, true],
    ] as const
  ).map(
    ([source, target]): RuleCase => ({
      is: `if only the ${source ? 'distinct ID' : 'alias'} is identified, the two persons are merged`,
      start: {
        persons: [
          { ids: ['d'], isIdentified: source },
          { ids: ['a'], isIdentified: target },
        ],
      },
      send: [alias('d', 'a')],
      persons: [{ ids: ['d', 'a'], uuidOf: 'a', isIdentified: true, version: 1 }],
    }),
  ),
  {
    is: 'if both persons are identified, the merge is rejected, and the event belongs to the person with the distinct ID',
    start: {
      persons: [
        { ids: ['d'], isIdentified: true },
        { ids: ['a'], isIdentified: true },
      ],
    },
    send: [alias('d', 'a', { $set: { x: 1 } })],
    persons: [
      { ids: ['d'], version: 1, properties: { x: 1 } },
      { ids: ['a'], version: 0, properties: {} },
    ],
    outcomes: [{ personOf: 'd', warnings: ['cannot_merge_already_identified'] }],
  },
  ...[undefined, null, ''].map(
    (value): RuleCase => ({
      is: `a $create_alias event whose alias is ${value === '' ? 'empty' : String(value)} only updates properties`,
      send: [alias('u', value, { $set: { a: 1 } })],
      persons: [{ ids: ['u'], properties: { a: 1 }, isIdentified: false }],
      outcomes: [{}],
    }),
  ),
  {
    is: 'aliasing an ID to itself does not change anything and does not cause a warning',
    send: [alias('u', 'u')],
    persons: [{ ids: ['u'], isIdentified: false }],
    outcomes: [{}],
  },
  {
    no: [69],
    is: '$merge_dangerously merges two identified persons into the person with the distinct ID',
    start: {
      persons: [
        { ids: ['u'], isIdentified: true },
        { ids: ['other'], isIdentified: true },
      ],
    },
    send: [mergeDangerously('u', 'other')],
    persons: [{ ids: ['u', 'other'], uuidOf: 'u', mainId: 'u', isIdentified: true, version: 1 }],
  },
  {
    no: [70],
    is: '$merge_dangerously can merge a person into a new ID',
    start: { persons: [{ ids: ['old'] }] },
    send: [mergeDangerously('new', 'old')],
    persons: [{ ids: ['old', 'new'], isIdentified: true }],
  },
  {
    no: [71],
    is: '$merge_dangerously with an illegal ID does not merge persons, so the three events belong to two persons',
    send: [{ event: 'e', distinct_id: 'u' }, { event: 'e', distinct_id: '0' }, mergeDangerously('u', '0')],
    persons: [{ ids: ['u'] }, { ids: ['0'] }],
    outcomes: [
      { personOf: 'u' },
      { personOf: '0' },
      { personOf: 'u', warnings: ['cannot_merge_with_illegal_distinct_id'] },
    ],
  },
  {
    no: [72],
    is: '$merge_dangerously with an illegal ID still sets properties',
    send: [mergeDangerously('u', '0', { $set: { a: 1 } })],
    persons: [{ ids: ['u'], properties: { a: 1 }, isIdentified: false }],
    outcomes: [{ warnings: ['cannot_merge_with_illegal_distinct_id'] }],
  },
  {
    no: [73],
    is: "the alias 'null' is not merged",
    send: [{ event: 'e', distinct_id: 'null' }, alias('u', 'null')],
    persons: [{ ids: ['null'] }, { ids: ['u'] }],
    outcomes: [{}, { warnings: ['cannot_merge_with_illegal_distinct_id'] }],
  },
  {
    no: [74],
    is: "the distinct ID 'false' is not merged into an alias",
    send: [{ event: 'e', distinct_id: 'u' }, alias('false', 'u')],
    persons: [{ ids: ['u'] }, { ids: ['false'] }],
    outcomes: [{}, { personOf: 'false', warnings: ['cannot_merge_with_illegal_distinct_id'] }],
  },
  {
    no: [79],
    is: 'merging two IDs of the same person again does not write anything',
    start: { persons: [{ ids: ['u', 'anon'], isIdentified: true, version: 4 }] },
    send: [identify('anon', 'u'), mergeDangerously('u', 'anon')],
    persons: [{ ids: ['u', 'anon'], version: 4 }],
    also: (world) => expect(world.personOf('u')?.isDirty).toBe(false),
  },
  {
    no: [90],
    is: 'a chain of merges results in one person',
    send: [
      { event: 'e', distinct_id: '1' },
      { event: 'e', distinct_id: '2' },
      { event: 'e', distinct_id: '3' },
      identify('2', '1'),
      mergeDangerously('2', '3'),
    ],
    persons: [{ ids: ['1', '2', '3'] }],
  },
  {
    no: [91],
    is: 'two pairs of IDs become one person with four IDs when they are merged with $merge_dangerously',
    send: [
      { event: 'e', distinct_id: '1' },
      { event: 'e', distinct_id: '2' },
      { event: 'e', distinct_id: '3' },
      { event: 'e', distinct_id: '4' },
      identify('2', '1'),
      identify('4', '3'),
      mergeDangerously('2', '3'),
    ],
    persons: [{ ids: ['1', '2', '3', '4'], isIdentified: true }],
  },
  ...[['a'], { a: 1 }, 1e300, true].map(
    (value): RuleCase => ({
      no: [136],
      is: `$identify with ${JSON.stringify(value)} as $anon_distinct_id is dropped`,
      send: [identify(value, 'u', { $set: { a: 1 } })],
      persons: [],
      outcomes: [{ dropped: 'invalid_anon_distinct_id', warnings: ['invalid_anon_distinct_id'] }],
    }),
  ),
  ...['$create_alias', '$merge_dangerously'].flatMap((event) =>
    [{ a: 1 }, ['a'], 1e300, false].map(
      (value): RuleCase => ({
        no: [137],
        is: `${event} with ${JSON.stringify(value)} as alias is dropped`,
        send: [{ event, distinct_id: 'u', properties: { alias: value } }],
        persons: [],
        outcomes: [{ dropped: 'invalid_alias', warnings: ['invalid_alias'] }],
      }),
    ),
  ),
  {
    is: 'a number as $anon_distinct_id or alias is treated as a string',
    start: { persons: [{ ids: ['7'] }] },
    send: [
      identify(7, 'u', { $set: { a: 1 } }),
      { event: '$create_alias', distinct_id: 'u', properties: { alias: 8.5 } },
      { event: '$merge_dangerously', distinct_id: 'u', properties: { alias: -9 } },
    ],
    persons: [{ ids: ['7', 'u', '8.5', '-9'], properties: { a: 1 }, isIdentified: true }],
    outcomes: [{ personOf: '7' }, { personOf: '7' }, { personOf: '7' }],
  },
  {
    is: 'in an ordinary event, $anon_distinct_id and alias can have any type',
    send: [{ event: 'e', distinct_id: 'u', properties: { $anon_distinct_id: 7, alias: {} } }],
    persons: [{ ids: ['u'] }],
    outcomes: [{}],
  },
];
