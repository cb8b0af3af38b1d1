import type { ApiRejections } from './load-flags.ts';

/** Unusual flags that the API rejects, but that older databases may contain. Evaluation must still support them. */
export const expectedApiRejections: ApiRejections = {
  'An operator is written in another way': ['coh-exact'],
  'Cannot create dependency on disabled flag … (ID:…': ['dep-on-off-t', 'dep-on-off-f'],
  'Cohort with id … does not exist': ['coh-gone'],
  'Feature flags must have at least one condition set (group)': ['roll-no-groups'],
  'Filters are not valid (variant override does not exist)': ['var-lotus-3', 'var-pebble-7'],
  'Flag dependency references non-existent flag with ID …': ['dep-ghost', 'dep-cyc-b'],
  'Invalid date value:…': [
    'op1-is-date-before-154',
    'op1-is-date-before-155',
    'op1-is-date-after-161',
    'op1-is-date-after-162',
    'op1-is-date-exact-168',
    'op1-is-date-exact-169',
  ],
  'Invalid value for operator exact:…': ['op1-exact-31'],
  'Invalid value for operator is_not:…': ['op1-is-not-32'],
  'Invalid variant definitions:…': ['var-fjord-6'],
  'Must contain a … key with type and values': ['cohort 16'],
  'groups[…].properties[…].value:…': [
    'op1-regex-96',
    'op1-regex-99',
    'op1-regex-102',
    'op1-not-regex-105',
    'op1-not-regex-112',
  ],
};
