import { guessPropertyType } from './property-type.ts';

const now = Date.parse('2026-11-21T00:00:00Z');
const recent = Math.floor(now / 1000) - 86_400;

test.each<[string, unknown, string | null]>([
  ['utm_source', 12, 'String'],
  ['$initial_utm_term', true, 'String'],
  ['$feature/beta', true, 'String'],
  ['$feature_flag_response', false, 'String'],
  ['$survey_response_1', 5, 'String'],
  ['created_at', '2026-01-31', 'DateTime'],
  ['createdAt', recent, 'DateTime'],
  ['Timestamp', recent, 'DateTime'],
  ['updated-at', 12, 'Numeric'],
  ['date', recent + 0.5, 'Numeric'],
  ['time', now / 1000 - 200 * 86_400, 'Numeric'],
  ['count', recent, 'Numeric'],
  ['a', 'true', 'Boolean'],
  ['a', ' FALSE ', 'Boolean'],
  ['a', 'True', 'String'],
  ['a', '2026-11-21T10:00:00Z', 'DateTime'],
  ['a', '2026-11-21T10:00:00.123+02:00', 'DateTime'],
  ['a', 'Sat, 21 Nov 2026 10:00:00 GMT', 'DateTime'],
  ['a', '21 Nov 2026 10:00:00 +0200', 'DateTime'],
  ['a', '2026-11-21', 'DateTime'],
  ['a', '2026/11/21', 'DateTime'],
  ['a', '21-11-2026', 'DateTime'],
  ['a', '11/21/2026 10:00', 'DateTime'],
  ['a', '2026-13-21', 'String'],
  ['a', '31-11-2026', 'String'],
  ['a', 'tomorrow', 'String'],
  ['a', '', 'String'],
  ['a', '12', 'String'],
  ['a', 12, 'Numeric'],
  ['a', -1.5, 'Numeric'],
  ['a', true, 'Boolean'],
  ['a', null, null],
  ['a', {}, null],
  ['a', ['x'], null],
])('determines the type of the property %s with the value %j as %s', (name, value, type) => {
  expect(guessPropertyType(name, value, now)).toBe(type);
});
