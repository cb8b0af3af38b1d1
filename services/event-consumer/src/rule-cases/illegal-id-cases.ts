import { identify } from './identify-cases.ts';
import type { RuleCase } from './rule-case.ts';

const illegalAnywhere = ['   ', 'null', 'undefined', '"undefined"', '[object Object]', '"[object Object]"'];

function refusedAsDistinctId(no: number, distinctId: string): RuleCase {
  return {
    no: [no],
    is: `$identify as ${JSON.stringify(distinctId)} does not merge persons, and the event belongs to a separate person`,
    start: { persons: [{ ids: ['anon'] }] },
    send: [identify('anon', distinctId)],
    persons: [
      { ids: ['anon'], isIdentified: false, version: 0 },
      { ids: [distinctId], isIdentified: false },
    ],
    outcomes: [{ personOf: distinctId, warnings: ['cannot_merge_with_illegal_distinct_id'] }],
  };
}

export const illegalIdCases: RuleCase[] = [
  ...illegalAnywhere.map((id) => refusedAsDistinctId(75, id)),
  ...['', ...illegalAnywhere].map(
    (id): RuleCase => ({
      no: [76],
      is: `$identify from ${JSON.stringify(id)} does not merge persons`,
      start: { persons: [{ ids: ['u'] }] },
      send: [identify(id, 'u')],
      persons: [{ ids: ['u'], isIdentified: false, version: 0 }],
      outcomes: [{ personOf: 'u', warnings: ['cannot_merge_with_illegal_distinct_id'] }],
    }),
  ),
  ...['distinctId', '  ', 'NaN', 'undefined', 'None', '0'].map((id) => refusedAsDistinctId(77, id)),
  {
    no: [78],
    is: '$identify as Nan merges the persons, because Nan can be a real name',
    start: { persons: [{ ids: ['anon'] }] },
    send: [identify('anon', 'Nan')],
    persons: [{ ids: ['anon', 'Nan'], isIdentified: true }],
    outcomes: [{}],
  },
];
