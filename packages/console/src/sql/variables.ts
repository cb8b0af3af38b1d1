// Variables of SQL queries: which ones a query contains, and the values that the query or a dashboard sets for them.

import { useQuery } from '@tanstack/react-query';
import { queryClient } from '../api/queries.ts';
import { call } from '../api/request.ts';
import { useProject } from '../frame/project.ts';
import { toFields } from '../results/insight-query.ts';
import type { SqlSource } from './node.ts';

export const variableTypes = ['String', 'Number', 'Boolean', 'List', 'Date'] as const;
export type VariableType = (typeof variableTypes)[number];

/** A variable that is stored in the project. */
export interface Variable {
  id: string;
  name: string;
  /** Name of the variable in queries: `{variables.code_name}`. */
  code_name: string;
  type: VariableType;
  /** The value of the variable unless a query or a dashboard sets one. It may be null. */
  default_value: unknown;
  /** The values to choose from. Null for variables that are not lists. */
  values: readonly (string | number)[] | null;
}

/** Values by the ID of the variable, in the format in which queries and dashboards store them. */
export type VariableValues = Record<string, unknown>;

/** The API accepts at most 500 variables, so one page contains all of them. */
const variablesQuery = (projectId: number) => ({
  queryKey: ['insight variables', projectId],
  queryFn: async ({ signal }: { signal: AbortSignal }) =>
    (
      await call<{ results: Variable[] }>(
        { path: `/api/projects/${projectId}/insight_variables`, query: { limit: 500 } },
        signal,
      )
    ).results,
  staleTime: 60_000,
});

/** Loads the variables of the project, sorted by name. @param isNeeded whether to load them */
export function useVariables(isNeeded = true) {
  const { id } = useProject();
  return useQuery({ ...variablesQuery(id), enabled: isNeeded });
}

export const loadVariables = (projectId: number) => queryClient.fetchQuery(variablesQuery(projectId));

/** Returns the placeholder of a variable. A name that is not a plain identifier is quoted. */
export const toPlaceholder = (name: string) =>
  /^[A-Za-z_]\w*$/.test(name) ? `{variables.${name}}` : `{variables.\`${name}\`}`;

/** Returns the value of a variable: the one that is set, or else the default value. */
export function chosenValue({ code_name: name, default_value: usual }: Variable, set: unknown) {
  const own = Object.values(toFields(set))
    .map(toFields)
    .find((one) => one.code_name === name);
  if (own?.isNull === true) return { value: null, isSet: true };
  const value = own?.value ?? null;
  return value === null ? { value: usual ?? null, isSet: false } : { value, isSet: true };
}

/**
 * Sets the value of a variable, or removes it so that the default value applies.
 * @param value undefined to remove the value
 */
export function withValue(set: unknown, { id, code_name }: Variable, value: unknown): VariableValues {
  const own = { variableId: id, code_name, ...(value === null ? { isNull: true } : { value }) };
  const { [id]: chosen, ...others } = mergedValues(set, { [id]: own });
  return value === undefined ? others : { ...others, [id]: chosen };
}

/** Merges two sets of values. If both contain a variable with the same code name, the value in `others` is used. */
export function mergedValues(own: unknown, others: unknown): VariableValues {
  const names = new Set(Object.values(toFields(others)).map((one) => toFields(one).code_name));
  const kept = Object.entries(toFields(own)).filter(([, one]) => !names.has(toFields(one).code_name));
  return { ...Object.fromEntries(kept), ...toFields(others) };
}

/** Returns the query with the given values of variables. */
export function withVariables({ variables: _, ...source }: SqlSource, variables: VariableValues): SqlSource {
  return Object.keys(variables).length === 0 ? source : { ...source, variables };
}
