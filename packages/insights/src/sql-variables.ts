// Variables of SQL queries. A project stores each variable with a type and a default value. A query may set another
// value.

import { createQueryError, isRecord } from './query-parts.ts';

export const variableTypes = ['String', 'Number', 'Boolean', 'List', 'Date'] as const;
export type VariableType = (typeof variableTypes)[number];

export interface StoredVariable {
  id: string;
  /** The variable's name in query text: `{variables.code_name}`. */
  code_name: string;
  type: VariableType;
  /** The variable's value unless a query sets another value. Can be null. */
  default_value: unknown;
  /** The values that users can choose from if the variable is a list. Null for all other types. */
  values: readonly unknown[] | null;
}

interface SentVariable {
  variableId?: string;
  code_name: string;
  value?: unknown;
  isNull?: boolean;
}

const dateText = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;
const longestText = 10_000;

/** Returns the reason why a variable cannot have the value, or null if it can. */
export function findValueProblem(
  { type, values }: Pick<StoredVariable, 'type' | 'values'>,
  value: unknown,
): string | null {
  switch (type) {
    case 'String':
      return typeof value === 'string' && value.length <= longestText
        ? null
        : `Expected a text of at most ${longestText} characters.`;
    case 'Number':
      return typeof value === 'number' && Number.isFinite(value) ? null : 'Expected a number.';
    case 'Boolean':
      return typeof value === 'boolean' ? null : 'Expected true or false.';
    case 'Date':
      return typeof value === 'string' && dateText.test(value) && !Number.isNaN(Date.parse(value))
        ? null
        : 'Expected a date, such as 2026-11-20 or 2026-11-20 12:00:00.';
    case 'List':
      return values?.includes(value) ? null : `Expected one of: ${(values ?? []).join(', ')}.`;
    default:
      return type satisfies never;
  }
}

/** Variable values by code name, and the names of variables that the query uses but the project does not have. */
export interface VariableValues {
  values: Record<string, unknown>;
  unknown: string[];
}

/**
 * Determines the values of all variables of a project. A value in the query takes precedence over the default value.
 * @throws AppError `invalid` that names the variable whose value has the wrong type
 */
export function readVariableValues(
  stored: readonly StoredVariable[],
  sent: Readonly<Record<string, SentVariable>> = {},
): VariableValues {
  const chosen = Object.entries(sent);
  const values = stored.map((variable): [string, unknown] => {
    const [key, found] = chosen.find(([, one]) => one.code_name === variable.code_name) ?? [];
    if (found?.isNull) return [variable.code_name, null];
    const value = found?.value ?? null;
    if (value === null) return [variable.code_name, variable.default_value ?? null];
    const problem = findValueProblem(variable, value);
    if (problem !== null) throw createQueryError(`variables.${key}.value`, sentenceOf(variable, problem));
    return [variable.code_name, value];
  });
  const known = new Set(stored.map(({ code_name: name }) => name));
  const unknown = chosen.map(([, one]) => one.code_name).filter((name) => !known.has(name));
  return { values: Object.fromEntries(values), unknown };
}

const sentenceOf = ({ code_name: name, type }: StoredVariable, problem: string) =>
  `${name} is of the type ${type}. ${problem}`;

/**
 * Returns the reason why a dashboard cannot have the variables, or null if it can. Variables that the project does not
 * have are allowed.
 */
export function findVariablesProblem(stored: readonly StoredVariable[], sent: Record<string, unknown>): string | null {
  for (const [key, one] of Object.entries(sent)) {
    if (!isRecord(one) || typeof one.code_name !== 'string')
      return `${key}: Expected an object with \`code_name\` and \`value\`.`;
    const variable = stored.find(({ code_name: name }) => name === one.code_name);
    const value = one.value ?? null;
    const problem = variable === undefined || value === null ? null : findValueProblem(variable, value);
    if (variable !== undefined && problem !== null) return `${key}: ${sentenceOf(variable, problem)}`;
  }
  return null;
}

/** Replaces variable values in an SQL query with a dashboard's values, by code name. */
export function mergeVariables(own: unknown, override: unknown): Record<string, unknown> {
  const before = isRecord(own) ? own : {};
  if (!isRecord(override)) return before;
  const names = new Set(Object.values(override).map(codeName));
  const kept = Object.entries(before).filter(([, one]) => !names.has(codeName(one)));
  return { ...Object.fromEntries(kept), ...override };
}

const codeName = (one: unknown) => (isRecord(one) ? one.code_name : undefined);
