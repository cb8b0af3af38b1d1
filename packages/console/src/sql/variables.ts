// Variables in SQL queries: which variables a query contains, and their values in queries and dashboards.

import { useQuery } from '@tanstack/react-query';
import { queryClient } from '../api/queries.ts';
import { call } from '../api/request.ts';
import { useProject } from '../frame/project.ts';
import { toFields } from '../results/insight-query.ts';
import type { SqlSource } from './node.ts';

export const variableTypes = ['String', 'Number', 'Boolean', 'List', 'Date'] as const;
export type VariableType = (typeof variableTypes)[number];

export interface Variable {
  id: string;
  name: string;
  /** The name in queries: `{variables.code_name}`. */
  code_name: string;
  type: VariableType;
  /** The value, possibly null, that applies if a query or dashboard does not set one. */
  default_value: unknown;
  /** The allowed values of a list variable. Null for other types. */
  values: readonly (string | number)[] | null;
}

/** Values by variable ID, in the stored format of queries and dashboards. */
export type VariableValues = Record<string, unknown>;

/** The API allows at most 500 variables, so one page contains all of them. */
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

export function useVariables(isNeeded = true) {
  const { id } = useProject();
  return useQuery({ ...variablesQuery(id), enabled: isNeeded });
}

export const loadVariables = (projectId: number) => queryClient.fetchQuery(variablesQuery(projectId));

/** Returns a variable's placeholder. A name that is not a plain identifier is quoted. */
export const toPlaceholder = (name: string) =>
  /^[A-Za-z_]\w*$/.test(name) ? `{variables.${name}}` : `{variables.\`${name}\`}`;

/** Returns the value that a query or dashboard sets for a variable, or else the variable's default value. */
export function getVariableValue({ code_name: name, default_value: usual }: Variable, set: unknown) {
  const own = Object.values(toFields(set))
    .map(toFields)
    .find((one) => one.code_name === name);
  if (own?.isNull === true) return { value: null, isSet: true };
  const value = own?.value ?? null;
  return value === null ? { value: usual ?? null, isSet: false } : { value, isSet: true };
}

/**
 * Sets a variable's value.
 * @param value the new value, or undefined to remove the value, so that the default value applies
 */
export function setVariableValue(set: unknown, { id, code_name }: Variable, value: unknown): VariableValues {
  const own = { variableId: id, code_name, ...(value === null ? { isNull: true } : { value }) };
  const { [id]: chosen, ...others } = mergeVariableValues(set, { [id]: own });
  return value === undefined ? others : { ...others, [id]: chosen };
}

/**
 * Merges two sets of variable values. If both sets contain a variable, the value in `others` wins. Variables are
 * compared by code name.
 */
export function mergeVariableValues(own: unknown, others: unknown): VariableValues {
  const names = new Set(Object.values(toFields(others)).map((one) => toFields(one).code_name));
  const kept = Object.entries(toFields(own)).filter(([, one]) => !names.has(toFields(one).code_name));
  return { ...Object.fromEntries(kept), ...toFields(others) };
}

export function replaceVariables({ variables: _, ...source }: SqlSource, variables: VariableValues): SqlSource {
  return Object.keys(variables).length === 0 ? source : { ...source, variables };
}
