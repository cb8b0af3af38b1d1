/**
 * Compares the operators of feature flags with those of query filters. Every intended difference is listed with its
 * reason.
 */

import { compileTest, isPropertyOperator, PropertyValue } from '@millrace/flags';
import { createTimeZone } from '@millrace/schedule';
import { filterCases, missing, stored, zone } from '../../testing/filter-cases.ts';

const ignoresCase = 'Flags ignore case in exact comparisons.';
const emptyList = 'In flags, an empty list means that the value is true.';
const nullIsValue = 'In flags, null is a value with the text `null`.';
const numberText = 'Flags compare the text of a number, in its shortest form.';
const compactJson = 'Flags compare lists and objects with JSON text in compact form, with sorted keys.';
const listAsText = 'Flags read a list as one text, because these operators take a single value.';
const exponent = 'Flags show large numbers as `1e+21`.';
const lineBreak = 'In flags, a dot does not match a line break.';
const blanks = 'Flags do not accept blanks around a number.';
const missingBetween = 'In flags, a missing property is not between two numbers.';
const seconds = 'In flags, a number is always a time in seconds, also as text.';
const skippedTime = 'In flags, a local time that a clock change skips is not a time.';
const instants = 'In flags, an exact date is its first instant, and not the day.';

const exceptTrue = [...Object.keys(stored), missing]
  .filter((name) => !['true', 'true_text', 'empty_list'].includes(name))
  .join(' ');

/** Intended differences: the values that match only in flags, the values that match only in queries, and the reason. */
// biome-ignore format: one case per line
const differences: [no: string, onlyFlags: string, onlyQueries: string, ...reasons: string[]][] = [
  ['filter-002', 'chrome', '', ignoresCase],
  ['filter-004', '', exceptTrue, emptyList],
  ['filter-006', 'null', '', nullIsValue],
  ['filter-009', '', 'five', numberText],
  ['filter-014', '', 'decimal', numberText],
  ['filter-029', '', 'list', compactJson],
  ['filter-030', '', 'list', compactJson],
  ['filter-033', '', 'object', compactJson],
  ['filter-042', '', 'null', nullIsValue],
  ['filter-049', '', 'decimal mobile', listAsText],
  ['filter-058', 'null', '', nullIsValue],
  ['filter-062', '', 'huge', exponent],
  ['filter-065', 'chrome list mobile true true_text', '', listAsText],
  ['filter-072', '', 'lines', lineBreak],
  ['filter-077', 'beta lines list marks mobile null null_text object street true true_text', '', listAsText],
  ['filter-081', '', 'null', nullIsValue],
  ['filter-091', '', 'spaced_text', blanks],
  ['filter-092', '', 'five five_text negative padded_text point_text signed_text spaced_text tiny', blanks],
  ['filter-095', '', 'huge milliseconds seconds seconds_text', listAsText],
  ['filter-098', '', 'spaced_text', blanks],
  ['filter-100', 'missing', '', missingBetween],
  ['filter-101', '', 'spaced_text', blanks],
  ['filter-102', 'null', '', nullIsValue],
  ['filter-103', 'null', '', nullIsValue],
  ['filter-104', '', 'null', nullIsValue],
  ['filter-105', '', 'null', nullIsValue],
  ['filter-106', 'five_text padded_text point_text scientific_text signed_text', 'skipped', seconds, skippedTime],
  ['filter-107', 'five_text padded_text point_text scientific_text signed_text', 'skipped', seconds, skippedTime],
  ['filter-108', 'five_text padded_text point_text scientific_text signed_text', 'skipped', seconds, skippedTime],
  ['filter-109', 'five_text padded_text point_text scientific_text signed_text', 'skipped', seconds, skippedTime],
  ['filter-110', 'five_text padded_text point_text scientific_text signed_text', 'skipped', seconds, skippedTime],
  ['filter-111', 'huge seconds_text', '', seconds],
  ['filter-112', 'huge milliseconds', '', seconds],
  ['filter-113', 'huge milliseconds', '', seconds],
  ['filter-114', 'huge milliseconds', '', seconds],
  ['filter-115', 'huge milliseconds', '', seconds],
  ['filter-116', 'huge milliseconds', '', seconds],
  ['filter-117', '', 'local milliseconds seconds spaced', instants],
  ['filter-118', '', 'offset utc', instants],
  ['filter-122', 'seconds_text', 'milliseconds', seconds],
  ['filter-124', 'five_text padded_text point_text scientific_text seconds_text signed_text', 'milliseconds skipped', seconds, skippedTime],
  ['filter-125', 'huge scientific_text seconds_text', 'skipped', seconds, skippedTime],
  ['filter-126', 'huge seconds_text', 'skipped', seconds, skippedTime],
  ['filter-127', '', 'skipped', skippedTime],
  ['filter-128', '', 'repeated', instants],
  ['filter-130', 'five_text padded_text point_text scientific_text signed_text', '', seconds],
  ['filter-131', 'huge milliseconds', '', seconds],
  ['filter-132', 'five_text padded_text point_text scientific_text seconds_text signed_text', 'milliseconds skipped', seconds, skippedTime],
  ['filter-133', 'huge milliseconds', '', seconds],
  ['filter-134', 'huge milliseconds', '', seconds],
];

/** Operators that flags do not support for properties, or store under another name. */
const onlyInQueries = ['in', 'not_in', 'min', 'max'];
const split = (text: string) =>
  text
    .split(' ')
    .filter((name) => name !== '')
    .sort();
const values = [...Object.entries(stored), [missing, undefined] as const];

test.each(filterCases.map((one) => [one.no, one.operator, one.value, one] as const))(
  '%s: %s %j matches the same persons in queries and in flags, except for intended differences',
  (no, operator, value, { found }) => {
    if (onlyInQueries.includes(operator)) return expect(isPropertyOperator(operator)).toBe(false);
    const { test, whenMissing } = compileTest(operator, value, { matchingVersion: 2, zone: createTimeZone(zone) });
    const inFlags = values
      .filter(([, one]) => (one === undefined ? whenMissing : test.matches(new PropertyValue(one), Date.now())))
      .map(([name]) => name);
    const [, onlyFlags = '', onlyQueries = ''] = differences.find(([of]) => of === no) ?? [];
    expect({
      onlyFlags: inFlags.filter((name) => !found.includes(name)).sort(),
      onlyQueries: found.filter((name) => !inFlags.includes(name)).sort(),
    }).toEqual({ onlyFlags: split(onlyFlags), onlyQueries: split(onlyQueries) });
  },
);

test('each intended difference from the flag operators refers to an existing case', () => {
  const known = filterCases.map(({ no }) => no);
  expect(differences.filter(([no]) => !known.includes(no))).toEqual([]);
});
