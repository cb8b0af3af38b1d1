import { isPropertyOperator, operatorNamed } from './operators.ts';
import { type CompiledTest, never, noSteps, type TestOptions, usualSteps } from './value-test.ts';

/** Names that older clients store for the same operators. */
const aliases: Record<string, string> = { min: 'gte', max: 'lte' };

/**
 * Prepares one property filter: everything that does not depend on the property is done here, once.
 * @param operator absent or null means `exact`; an unknown one matches nothing
 * @param expected the filter's value; without one only `is_set` and `is_not_set` can match
 */
export function compileTest(operator: unknown, expected: unknown, options: TestOptions): CompiledTest {
  const asked = operator ?? 'exact';
  const name = (typeof asked === 'string' && Object.hasOwn(aliases, asked) ? aliases[asked] : undefined) ?? asked;
  if (!isPropertyOperator(name)) return never;
  const needsValue = name !== 'is_set' && name !== 'is_not_set';
  if (needsValue && (expected === null || expected === undefined)) return never;
  const { prepare, whenMissing } = operatorNamed(name);
  const matches = prepare(expected, options);
  if (matches === null) return { ...never, whenMissing };
  return { matches, whenMissing, stepsFor: needsValue ? (matches.stepsFor ?? usualSteps) : noSteps };
}
