// Variables of SQL queries: which ones a query uses, and the values that it or a dashboard sets for them.

import { useQuery } from '@tanstack/react-query';
import { queryClient } from '../api/queries.ts';
import { call } from '../api/request.ts';
import { useProject } from '../frame/project.ts';
import { toFields } from '../results/insight-query.ts';
import type { SqlSource } from './node.ts';

export const variableTypes = ['String', 'Number', 'Boolean', 'List', 'Date'] as const;
export type VariableType = (typeof variableTypes)[number];

/** A variable of the project. */
export interface Variable {
  id: string;
  name: string;
  /** The name in queries: `{variables.code_name}`. */
  code_name: string;
  type: VariableType;
  /** Null if the variable is null unless a query or a dashboard sets it. */
  default_value: unknown;
  /** For lists: the values to choose from. */
  values: readonly (string | number)[] | null;
}

/** Values by ID of the variable, as queries and dashboards store them. */
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

/** The variables of the project, sorted by name. @param isNeeded whether to load them */
export function useVariables(isNeeded = true) {
  const { id } = useProject();
  return useQuery({ ...variablesQuery(id), enabled: isNeeded });
}

export const loadVariables = (projectId: number) => queryClient.fetchQuery(variablesQuery(projectId));

/** The placeholder of a variable. A name that is not a plain identifier needs quotes. */
export const placeholderOf = (name: string) =>
  /^[A-Za-z_]\w*$/.test(name) ? `{variables.${name}}` : `{variables.\`${name}\`}`;

/** The value of a variable: the one that is set, or else the default value. */
export function chosenValue({ code_name: name, default_value: usual }: Variable, set: unknown) {
  const own = Object.values(toFields(set))
    .map(toFields)
    .find((one) => one.code_name === name);
  if (own?.isNull === true) return { value: null, isSet: true };
  const value = own?.value ?? null;
  return value === null ? { value: usual ?? null, isSet: false } : { value, isSet: true };
}

/** Sets a variable, or removes its value, so that the default value applies. @param value undefined removes it */
export function withValue(set: unknown, { id, code_name }: Variable, value: unknown): VariableValues {
  const own = { variableId: id, code_name, ...(value === null ? { isNull: true } : { value }) };
  const { [id]: chosen, ...others } = mergedValues(set, { [id]: own });
  return value === undefined ? others : { ...others, [id]: chosen };
}

/** Merges two sets of variable values. If both have a variable with the same code name, `others` wins. */
export function mergedValues(own: unknown, others: unknown): VariableValues {
  const names = new Set(Object.values(toFields(others)).map((one) => toFields(one).code_name));
  const kept = Object.entries(toFields(own)).filter(([, one]) => !names.has(toFields(one).code_name));
  return { ...Object.fromEntries(kept), ...toFields(others) };
}

/** Returns the query with these values. */
export function withVariables({ variables: _, ...source }: SqlSource, variables: VariableValues): SqlSource {
  return Object.keys(variables).length === 0 ? source : { ...source, variables };
}
