import { personMode } from '../model/event.ts';
import type { RuleCase } from './rule-case.ts';

const filteredKeys = [
  '$current_url',
  '$pathname',
  '$referring_domain',
  '$referrer',
  '$screen_height',
  '$screen_width',
  '$viewport_height',
  '$viewport_width',
  '$browser',
  '$browser_version',
  '$device_type',
  '$raw_user_agent',
  '$os',
  '$os_version',
  '$geoip_postal_code',
  '$geoip_time_zone',
  '$geoip_latitude',
  '$geoip_longitude',
  '$geoip_accuracy_radius',
  '$geoip_subdivision_1_code',
  '$geoip_subdivision_2_code',
  '$geoip_subdivision_3_code',
  '$geoip_subdivision_1_name',
  '$geoip_subdivision_2_name',
  '$geoip_subdivision_3_name',
  '$geoip_city_confidence',
  '$geoip_country_confidence',
  '$geoip_postal_code_confidence',
  '$geoip_subdivision_1_confidence',
  '$geoip_subdivision_2_confidence',
];

function pageview(properties: Record<string, unknown>, set: Record<string, unknown>): Pick<RuleCase, 'start' | 'send'> {
  return {
    start: { persons: [{ ids: ['u'], properties }] },
    send: [{ event: '$pageview', distinct_id: 'u', properties: { $set: set } }],
  };
}

export const updateCases: RuleCase[] = [
  {
    no: [11],
    is: '$set overwrites properties, $set_once adds missing properties, and keys that every JavaScript object inherits are ordinary keys',
    start: { persons: [{ ids: ['u'], properties: { b: 3, c: 4, toString: {} } }] },
    send: [{ event: 'e', distinct_id: 'u', properties: { $set_once: { c: 3, e: 4 }, $set: { b: 4, toString: 1 } } }],
    persons: [{ ids: ['u'], properties: { b: 4, c: 4, e: 4, toString: 1 }, version: 1 }],
  },
  ...['$exception', '$$heatmap'].map(
    (event, index): RuleCase => ({
      no: [12 + index],
      is: `${event} never updates a person`,
      start: { persons: [{ ids: ['u'], properties: { a: 1 } }] },
      send: [{ event, distinct_id: 'u', properties: { $set: { a: 2 }, $set_once: { b: 1 }, $unset: ['a'] } }],
      persons: [{ ids: ['u'], properties: { a: 1 }, version: 0 }],
    }),
  ),
  {
    no: [14],
    is: 'a page view does not update the person if only the current URL changed, but the stored event contains the new URL',
    ...pageview({ $current_url: 123 }, { $current_url: 4 }),
    persons: [{ ids: ['u'], properties: { $current_url: 123 }, version: 0 }],
    outcomes: [{ personProperties: { $current_url: 4 } }],
  },
  {
    no: [15],
    is: 'a $set event updates the person even if only the current URL changed',
    start: { persons: [{ ids: ['u'], properties: { $current_url: 123 } }] },
    send: [{ event: '$set', distinct_id: 'u', properties: { $set: { $current_url: 4 } } }],
    persons: [{ ids: ['u'], properties: { $current_url: 4 }, version: 1 }],
  },
  {
    no: [16],
    is: 'a page view sets an initial property that the person does not have',
    ...pageview({}, { $initial_current_url: 'x' }),
    persons: [{ ids: ['u'], properties: { $initial_current_url: 'x' }, version: 1 }],
  },
  {
    no: [17],
    is: 'a page view overwrites an initial property that the person already has',
    ...pageview({ $initial_current_url: 'w' }, { $initial_current_url: 'x' }),
    persons: [{ ids: ['u'], properties: { $initial_current_url: 'x' }, version: 1 }],
  },
  {
    no: [18],
    is: 'unchanged values are not written, including equal objects',
    start: { persons: [{ ids: ['u'], properties: { a: 1, o: { x: [1], y: 2 }, n: null } }] },
    send: [
      {
        event: '$set',
        distinct_id: 'u',
        properties: { $set: { a: 1, o: { y: 2, x: [1] } }, $set_once: { a: 2, n: null } },
      },
    ],
    persons: [{ ids: ['u'], properties: { a: 1, o: { x: [1], y: 2 }, n: null }, version: 0 }],
    also: (world) => expect(world.personOf('u')?.isDirty).toBe(false),
  },
  {
    no: [19],
    is: 'is_identified is written even without other changes, but only once',
    start: { persons: [{ ids: ['u', 'anon'] }] },
    send: [
      { event: '$identify', distinct_id: 'u', properties: { $anon_distinct_id: 'anon' } },
      { event: '$identify', distinct_id: 'u', properties: { $anon_distinct_id: 'anon' } },
    ],
    persons: [{ ids: ['u', 'anon'], isIdentified: true, version: 1 }],
  },
  {
    no: [21],
    is: '$set overrides $set_once for the same key, and the event keeps both',
    start: { persons: [{ ids: ['u'] }] },
    send: [{ event: 'e', distinct_id: 'u', properties: { $set: { k: 'set' }, $set_once: { k: 'once' } } }],
    persons: [{ ids: ['u'], properties: { k: 'set' } }],
    outcomes: [{ properties: { $set: { k: 'set' }, $set_once: { k: 'once' } } }],
  },
  {
    is: '$set overrides $set_once even if both values are null',
    start: { persons: [{ ids: ['u'], properties: { k: null } }] },
    send: [{ event: 'e', distinct_id: 'u', properties: { $set: { k: null }, $set_once: { k: 'once' } } }],
    persons: [{ ids: ['u'], properties: { k: null }, version: 0 }],
  },
  {
    no: [22],
    is: '$unset removes properties, and the event keeps $unset',
    start: { persons: [{ ids: ['u'], properties: { a: 1, b: 2, c: 3 } }] },
    send: [{ event: 'e', distinct_id: 'u', properties: { $unset: ['a', 'c', 'missing', 7] } }],
    persons: [{ ids: ['u'], properties: { b: 2 }, version: 1 }],
    outcomes: [{ properties: { $unset: ['a', 'c', 'missing', 7] } }],
  },
  {
    no: [23],
    is: 'an empty $unset does not change anything',
    start: { persons: [{ ids: ['u'], properties: { a: 1 } }] },
    send: [{ event: 'e', distinct_id: 'u', properties: { $unset: {} } }],
    persons: [{ ids: ['u'], properties: { a: 1 }, version: 0 }],
  },
  {
    is: '$unset as an object removes its keys',
    start: { persons: [{ ids: ['u'], properties: { a: 1, b: 2 } }] },
    send: [{ event: 'e', distinct_id: 'u', properties: { $unset: { a: '' } } }],
    persons: [{ ids: ['u'], properties: { b: 2 } }],
  },
  {
    is: 'a key that is both set and unset is removed if the person had it, and kept if it did not',
    start: { persons: [{ ids: ['u'], properties: { had: 1 } }] },
    send: [{ event: 'e', distinct_id: 'u', properties: { $set: { had: 2, hadNot: 2 }, $unset: ['had', 'hadNot'] } }],
    persons: [{ ids: ['u'], properties: { hadNot: 2 } }],
  },
  {
    is: 'null is set like any other value, and $set_once replaces it',
    start: { persons: [{ ids: ['u'], properties: { a: 1, b: null } }] },
    send: [{ event: 'e', distinct_id: 'u', properties: { $set: { a: null }, $set_once: { b: 2 } } }],
    persons: [{ ids: ['u'], properties: { a: null, b: 2 } }],
  },
  {
    no: [24],
    is: 'after four events, a property has the value from the last $set or, without $set, from the first $set_once',
    start: { persons: [{ ids: ['u'] }] },
    send: [
      { event: 'e', distinct_id: 'u', properties: { $set: { a: 1, b: 1 }, $set_once: { c: 1, d: 1 } } },
      { event: 'e', distinct_id: 'u', properties: { $set: { b: 2, e: 2 }, $set_once: { a: 2, f: 2 } } },
      { event: 'e', distinct_id: 'u', properties: { $set: { c: 3 }, $set_once: { g: 3, f: 3 } } },
      { event: 'e', distinct_id: 'u', properties: { $set: { a: 4 }, $set_once: { d: 4, g: 4 } } },
    ],
    persons: [{ ids: ['u'], properties: { a: 4, b: 2, c: 3, d: 1, e: 2, f: 2, g: 3 }, version: 4 }],
  },
  {
    no: [25],
    is: '$set at the top level of an event counts like $set in the properties, and takes precedence for keys in both',
    send: [{ event: 'e', distinct_id: 'u', $set: { a: 1, b: 1 }, properties: { $set: { b: 2, c: 2 } } }],
    persons: [{ ids: ['u'], properties: { a: 1, b: 1, c: 2 } }],
    outcomes: [{ properties: { $set: { a: 1, b: 1, c: 2 } } }],
  },
  {
    no: [26],
    is: '$set_once at the top level of an event counts, and a later $set_once for the same key is ignored',
    send: [
      { event: 'e', distinct_id: 'u', $set_once: { a: 1 } },
      { event: 'e', distinct_id: 'u', properties: { $set_once: { a: 2 } } },
    ],
    persons: [{ ids: ['u'], properties: { a: 1 }, version: 0 }],
  },
  {
    is: '$set_once at the top level and in the properties are merged, and the top level takes precedence for keys in both',
    send: [{ event: 'e', distinct_id: 'u', $set_once: { a: 1, b: 1 }, properties: { $set_once: { b: 2, c: 2 } } }],
    persons: [{ ids: ['u'], properties: { a: 1, b: 1, c: 2 } }],
  },
  {
    is: '$unset at the top level of an event also counts',
    start: { persons: [{ ids: ['u'], properties: { a: 1, b: 2, c: 3 } }] },
    send: [{ event: 'e', distinct_id: 'u', $unset: ['a'], properties: { $unset: { b: 1 } } }],
    persons: [{ ids: ['u'], properties: { c: 3 } }],
  },
  {
    no: [27],
    is: '$identify with $set_once, sent twice, keeps the first value',
    send: [
      { event: '$identify', distinct_id: 'u', properties: { $set_once: { a: 1 } } },
      { event: '$identify', distinct_id: 'u', properties: { $set_once: { a: 2 } } },
    ],
    persons: [{ ids: ['u'], properties: { a: 1 } }],
  },
  {
    no: [28],
    is: 'an event between two $set events contains the first value',
    send: [
      { event: '$set', distinct_id: 'u', properties: { $set: { a: 1 } } },
      { event: 'e', distinct_id: 'u' },
      { event: '$set', distinct_id: 'u', properties: { $set: { a: 2 } } },
    ],
    outcomes: [{}, { personProperties: { a: 1 } }, { personProperties: { a: 2 } }],
  },
  {
    no: [29],
    is: '$unset has no effect in an anonymous event',
    start: { persons: [{ ids: ['u'], properties: { a: 1 } }] },
    send: [{ event: 'e', distinct_id: 'u', properties: { $process_person_profile: false, $unset: ['a'] } }],
    persons: [{ ids: ['u'], properties: { a: 1 }, version: 0 }],
  },
  ...filteredKeys.map(
    (key): RuleCase => ({
      no: key === '$geoip_latitude' ? [30, 33] : [30],
      is: `a page view does not write a changed ${key} without other changes`,
      ...pageview({ [key]: 1 }, { [key]: 2 }),
      persons: [{ ids: ['u'], properties: { [key]: 1 }, version: 0 }],
      outcomes: [{ personProperties: { [key]: 2 } }],
    }),
  ),
  {
    no: [31],
    is: 'a volatile property that the person does not have is written',
    ...pageview({}, { $browser: 'Firefox' }),
    persons: [{ ids: ['u'], properties: { $browser: 'Firefox' }, version: 1 }],
  },
  {
    no: [32],
    is: 'a change of the country also writes the changed volatile properties',
    ...pageview(
      { $geoip_country_name: 'A', $geoip_latitude: 1, $geoip_longitude: 1, $geoip_postal_code: '1' },
      { $geoip_country_name: 'B', $geoip_latitude: 2, $geoip_longitude: 2, $geoip_postal_code: '2' },
    ),
    persons: [
      {
        ids: ['u'],
        properties: { $geoip_country_name: 'B', $geoip_latitude: 2, $geoip_longitude: 2, $geoip_postal_code: '2' },
        version: 1,
      },
    ],
  },
  {
    no: [34],
    is: 'a change of the city is written even without other changes',
    ...pageview({ $geoip_city_name: 'A' }, { $geoip_city_name: 'B' }),
    persons: [{ ids: ['u'], properties: { $geoip_city_name: 'B' }, version: 1 }],
  },
  {
    no: [35],
    is: 'an unchanged custom property does not cause volatile changes to be written',
    ...pageview({ plan: 'a', $browser: 'x' }, { plan: 'a', $browser: 'y' }),
    persons: [{ ids: ['u'], properties: { plan: 'a', $browser: 'x' }, version: 0 }],
  },
  {
    no: [36],
    is: 'a page view that unsets a property is written, including its volatile changes',
    start: { persons: [{ ids: ['u'], properties: { plan: 'a', $browser: 'x' } }] },
    send: [{ event: '$pageview', distinct_id: 'u', properties: { $set: { $browser: 'y' }, $unset: ['plan'] } }],
    persons: [{ ids: ['u'], properties: { $browser: 'y' }, version: 1 }],
  },
  {
    is: 'a volatile change that was not written is not visible to the next event',
    start: { persons: [{ ids: ['u'], properties: { $browser: 'x' } }] },
    send: [
      { event: '$pageview', distinct_id: 'u', properties: { $set: { $browser: 'y' } } },
      { event: 'e', distinct_id: 'u' },
    ],
    outcomes: [{ personProperties: { $browser: 'y' } }, { personProperties: { $browser: 'x' } }],
  },
  {
    is: 'an update over 655,360 bytes is discarded with a warning, but the event is stored',
    start: { persons: [{ ids: ['u'], properties: { a: 1 } }] },
    send: [{ event: '$set', distinct_id: 'u', properties: { $set: { big: 'x'.repeat(655_360) } } }],
    persons: [{ ids: ['u'], properties: { a: 1 }, version: 0 }],
    outcomes: [{ warnings: ['person_properties_size_violation'], row: { personProperties: { a: 1 } } }],
  },
  {
    is: 'an update of exactly 655,360 bytes is written',
    start: { persons: [{ ids: ['u'] }] },
    send: [{ event: '$set', distinct_id: 'u', properties: { $set: { b: 'x'.repeat(655_360 - '{"b":""}'.length) } } }],
    persons: [{ ids: ['u'], version: 1 }],
    outcomes: [{ warnings: ['person_properties_not_shown'] }],
  },
  {
    is: 'an update of 655,361 bytes is not written',
    start: { persons: [{ ids: ['u'] }] },
    send: [{ event: '$set', distinct_id: 'u', properties: { $set: { b: 'x'.repeat(655_361 - '{"b":""}'.length) } } }],
    persons: [{ ids: ['u'], version: 0, properties: {} }],
    outcomes: [{ warnings: ['person_properties_size_violation'] }],
  },
  {
    is: 'a person that would be created too large is created without the properties',
    send: [{ event: 'e', distinct_id: 'u', properties: { $set: { big: 'é'.repeat(330_000) } } }],
    persons: [{ ids: ['u'], properties: {}, version: 0 }],
    outcomes: [{ warnings: ['person_properties_size_violation'], personProperties: { big: undefined } }],
  },
  {
    is: 'two persons that would be too large together are merged, and the remaining person keeps only its own properties',
    start: {
      persons: [
        { ids: ['u'], properties: { a: 'x'.repeat(400_000) } },
        { ids: ['anon'], properties: { b: 'x'.repeat(400_000) } },
      ],
    },
    send: [{ event: '$identify', distinct_id: 'u', properties: { $anon_distinct_id: 'anon', $set: { c: 1 } } }],
    persons: [{ ids: ['u', 'anon'], isIdentified: true }],
    outcomes: [
      {
        warnings: ['person_properties_size_violation', 'person_properties_not_shown'],
        personProperties: { c: 1, b: undefined },
      },
    ],
  },
  {
    is: 'the values that an update replaces do not count towards its size',
    start: { persons: [{ ids: ['u'], properties: { big: 'x'.repeat(600_000), old: 'y'.repeat(50_000) } }] },
    send: [
      { event: '$set', distinct_id: 'u', properties: { $set: { more: 'z'.repeat(6000) } } },
      { event: '$set', distinct_id: 'u', properties: { $set: { big: 'é"'.repeat(150_000) }, $unset: ['old', 'old'] } },
      { event: '$set', distinct_id: 'u', properties: { $set: { more: 'z'.repeat(55_340) } } },
      { event: '$set', distinct_id: 'u', properties: { $set: { more: 'z'.repeat(55_341) } } },
    ],
    persons: [{ ids: ['u'], version: 2 }],
    outcomes: [
      { warnings: ['person_properties_size_violation', 'person_properties_not_shown'] },
      { warnings: ['person_properties_not_shown'] },
      { warnings: ['person_properties_not_shown'] },
      { warnings: ['person_properties_size_violation', 'person_properties_not_shown'] },
    ],
  },
  {
    is: 'an event contains all person properties up to 65,536 bytes, or only the changed properties of a larger person',
    start: { persons: [{ ids: ['u'], properties: { big: 'x'.repeat(65_536 - '{"big":"","n":1}'.length), n: 0 } }] },
    send: [
      { event: '$set', distinct_id: 'u', properties: { $set: { n: 1 } } },
      { event: '$set', distinct_id: 'u', properties: { $set: { n: 10 }, $set_once: { n: 3, once: 1 } } },
      { event: 'e', distinct_id: 'u' },
      { event: '$pageview', distinct_id: 'u', properties: { $set: { $browser: 'unwritten' }, $unset: ['nothing'] } },
      { event: '$set', distinct_id: 'u', properties: { $unset: ['big'] } },
    ],
    persons: [{ ids: ['u'], version: 4, properties: { n: 10, once: 1, $browser: 'unwritten' } }],
    outcomes: [
      { personProperties: { big: 'x'.repeat(65_536 - '{"big":"","n":1}'.length), n: 1 } },
      { warnings: ['person_properties_not_shown'], row: { personProperties: { n: 10, once: 1 } } },
      { warnings: ['person_properties_not_shown'], row: { personProperties: {} } },
      { warnings: ['person_properties_not_shown'], row: { personProperties: { $browser: 'unwritten' } } },
      { row: { personProperties: { n: 10, once: 1, $browser: 'unwritten' } } },
    ],
  },
  {
    is: 'keys that are named like a prototype do not modify any prototype',
    send: [
      {
        event: '$set',
        distinct_id: '__proto__',
        properties: JSON.parse('{"$set":{"__proto__":{"admin":true},"constructor":1},"$set_once":{"__proto__":2}}'),
      },
    ],
    also: (world) => {
      expect(Reflect.get({}, 'admin')).toBeUndefined();
      const properties = world.personOf('__proto__')?.properties ?? {};
      expect(Object.getPrototypeOf(properties)).toBe(Object.prototype);
      expect(JSON.parse(JSON.stringify(properties))).toEqual(
        JSON.parse(
          '{"__proto__":{"admin":true},"constructor":1,"$creator_event_uuid":"00000000-0000-4000-8000-000000000001"}',
        ),
      );
    },
  },
  {
    no: [100],
    is: 'an anonymous event does not belong to groups',
    send: [{ event: 'e', distinct_id: 'u', properties: { $process_person_profile: false, $group_0: 'x', a: 1 } }],
    outcomes: [
      {
        row: {
          properties: { $process_person_profile: false, a: 1 },
          personProperties: {},
          personMode: personMode.propertyless,
        },
      },
    ],
  },
  {
    no: [101],
    is: "an anonymous event does not update the person, and is stored with person_mode 1 within a minute of the person's creation",
    start: { persons: [{ ids: ['u'], properties: { a: 1 }, createdAt: '2026-03-01T11:59:00.000Z' }] },
    send: [
      {
        event: 'e',
        distinct_id: 'u',
        $set: { a: 2 },
        $set_once: { b: 2 },
        $unset: ['a'],
        properties: { $process_person_profile: false, $set: { c: 3 }, $set_once: { d: 3 }, $unset: ['a'] },
      },
    ],
    persons: [{ ids: ['u'], properties: { a: 1 }, version: 0 }],
    outcomes: [
      {
        personOf: 'u',
        row: {
          properties: { $process_person_profile: false },
          personProperties: {},
          personMode: personMode.propertyless,
          personCreatedAtMs: Date.parse('2026-03-01T11:59:00.000Z'),
        },
      },
    ],
  },
];
