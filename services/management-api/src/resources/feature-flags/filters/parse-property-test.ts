import { isFilterDate, isPropertyOperator, type PropertyOperator, patternProblem } from '@millrace/flags';
import { brief, filterProblem } from './filter-problem.ts';

/** Names that older clients have for the same operators. */
const aliases = new Map([
  ['min', 'gte'],
  ['max', 'lte'],
]);
const dateOperators = new Set<PropertyOperator>(['is_date_before', 'is_date_after', 'is_date_exact']);
/** Those that compare with one text, numbers too: written as text. */
const textOperators = new Set<PropertyOperator>([
  ...(['gt', 'gte', 'lt', 'lte', 'regex', 'not_regex', 'icontains', 'not_icontains'] as const),
  ...(['starts_with', 'not_starts_with', 'ends_with', 'not_ends_with'] as const),
]);
const valueless = new Set<PropertyOperator>(['is_set', 'is_not_set']);
const mostValues = 1000;
const longestKey = 400;

export interface PropertyRules {
  /** Where the filter stands. */
  path: string;
  type: 'person' | 'group';
  knownPatterns: ReadonlySet<unknown>;
}

/** Key, operator and value of a filter about a property. @throws AppError `invalid`. */
export function parsePropertyTest(
  { key, operator: asked, value }: Record<string, unknown>,
  rules: PropertyRules,
): { key: string; operator?: PropertyOperator } {
  const { path } = rules;
  if (typeof key !== 'string' || key === '' || key.length > longestKey) {
    throw filterProblem(`${path}.key: must be the name of a property, of ${longestKey} characters at most`);
  }
  const operator = parseOperator(asked, rules);
  if (!valueless.has(operator)) checkValue(operator, value, { key, ...rules });
  return asked === undefined || asked === null ? { key } : { key, operator };
}

/** Absent means `exact`. */
function parseOperator(asked: unknown, { type }: PropertyRules): PropertyOperator {
  const operator = aliases.get(String(asked)) ?? asked ?? 'exact';
  if (isPropertyOperator(operator)) return operator;
  if (operator === 'in' || operator === 'not_in') {
    throw filterProblem(
      `The '${operator}' operator is only valid for cohort properties, not '${type}' properties.`,
      'invalid_operator',
    );
  }
  throw filterProblem(`The '${brief(operator)}' operator is not valid for '${type}' properties.`, 'invalid_operator');
}

function checkValue(
  operator: PropertyOperator,
  value: unknown,
  { path, key, knownPatterns }: PropertyRules & { key: string },
): void {
  if (dateOperators.has(operator)) {
    if (!isFilterDate(value)) throw filterProblem(`Invalid date value: ${brief(value)}`, 'invalid_date');
    return;
  }
  if (value === undefined || value === null || (textOperators.has(operator) && typeof value !== 'string')) {
    throw filterProblem(`Invalid value for operator ${operator}: ${brief(value ?? null)}`, 'invalid_value');
  }
  if (Array.isArray(value) && value.length > mostValues) {
    throw filterProblem(`Property group expressions of type ${key} cannot contain more than ${mostValues} values.`);
  }
  if ((operator === 'regex' || operator === 'not_regex') && !knownPatterns.has(value)) {
    const problem = patternProblem(String(value));
    if (problem !== null) throw filterProblem(`${path}.value: invalid regex pattern: ${brief(problem)}`);
  }
}
