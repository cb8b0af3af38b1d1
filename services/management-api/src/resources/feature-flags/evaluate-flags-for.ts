import { cutToCodePoints } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { compileDefinitions, inTimeSlices, loadDefinitions, loadStoredData } from '@millrace/flag-store';
import {
  type CompiledFlags,
  type EvaluationContext,
  evaluateFlagsInSteps,
  type FlagResult,
  neededData,
  selectFlags,
} from '@millrace/flags';

/** Who asks for the flags of an environment. */
export interface FlagAsker {
  environmentId: number;
  distinctId: string;
  /** Keys of groups by the names of their types. */
  groups: Record<string, unknown>;
  /** Instead of what is stored. */
  personProperties?: Record<string, unknown>;
}

export interface EvaluatedFor {
  flags: CompiledFlags;
  context: EvaluationContext;
  results: FlagResult[];
}

/** Longer ids are cut where SDKs ask. */
const longestId = 200;

/**
 * What every active flag of an environment is for somebody, by what is stored now. Writes nothing.
 * @throws what the database answered, instead of flags that could not be evaluated.
 */
export async function evaluateFlagsFor(sql: Sql, asker: FlagAsker): Promise<EvaluatedFor | null> {
  const { environmentId, groups, personProperties = {} } = asker;
  const definitions = await loadDefinitions(sql, environmentId);
  if (definitions === null) return null;
  const flags = await compileDefinitions(definitions);
  const distinctId = cutToCodePoints(asker.distinctId, longestId);
  const request = { distinctId, groups, personProperties, groupProperties: {} };
  const selected = selectFlags(flags, {});
  const failures: unknown[] = [];
  const stored = await loadStoredData(sql, {
    environmentId,
    distinctId,
    flags,
    needed: neededData(flags, selected, request),
    onFailure: (error) => failures.push(error),
  });
  if (failures.length > 0) throw failures[0];
  const context = { ...request, stored, now: Date.now() };
  const { results } = await inTimeSlices(evaluateFlagsInSteps(flags, selected, context));
  return { flags, context, results };
}
