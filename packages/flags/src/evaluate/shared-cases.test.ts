import { caseContext, caseFile, caseFlags, type FlagCase } from '../testing/load-cases.ts';
import { computeBucketHash } from './bucketing.ts';
import { evaluateFlags } from './evaluate-flags.ts';
import { toFlagValue } from './flag-result.ts';
import { selectFlags } from './select-flags.ts';

/**
 * `src/testing/flag-cases.json` contains results of the SDKs and of PostHog's server, and explains how they were
 * obtained.
 */
const named = caseFile.cases.map((row, index) => [row[1], row[2], index, row] as const);

test.each(named)('returns the same result as the SDKs: %s, flag %s (#%i)', (_category, _flag, _index, row) => {
  expect(resultOf(row)).toEqual({ value: row[5], reason: row[6], payload: row[7] });
});

test.each(caseFile.hash)('computes the same hash as the SDKs: %s %s %s', (prefix, id, salt, expected) => {
  expect(computeBucketHash(prefix, id, salt)).toBe(expected);
});

function resultOf([document, , key, distinctId, sent]: FlagCase) {
  const flags = caseFlags[document];
  if (flags === undefined) throw new Error(`there is no document ${document}`);
  const { results } = evaluateFlags(flags, selectFlags(flags, { keys: [key] }), caseContext(distinctId, sent));
  const result = results.find((one) => one.key === key);
  if (result === undefined) return { value: false, reason: 'omitted', payload: null };
  const { code, conditionIndex } = result.reason;
  const reason =
    result.failure !== null ? `failed:${code}` : conditionIndex === null ? code : `${code}:${conditionIndex}`;
  return { value: toFlagValue(result), reason, payload: result.payload };
}
