import type { PropertyFilter } from '../compile/compiled.ts';
import type { Evaluation, Outcome } from './evaluation.ts';
import { missing, unavailable } from './property-values.ts';

export function testProperty({ key, groupType, test }: PropertyFilter, { values, context }: Evaluation): Outcome {
  const value = groupType === null ? values.person(key) : values.group(groupType, key);
  if (value === unavailable) return 'database_error';
  return value === missing ? test.whenMissing : test.matches(value, context.now);
}
