import { AppError } from '@millrace/errors';
import { inTimeSlices, loadStoredData, needsStoredData } from '@millrace/flag-store';
import {
  type CompiledFlags,
  type EvaluatedFlags,
  evaluateFlagsInSteps,
  type FlagSelection,
  neededData,
  nothingStored,
  selectFlags,
} from '@millrace/flags';
import type { FlagData } from '../flag-data/flag-data.ts';
import type { FlagQuestion } from './flag-question.ts';

export interface Evaluating {
  environmentId: number;
  context: NonNullable<FlagQuestion['context']>;
  selection: FlagSelection;
  onlySentProperties: boolean;
  data: FlagData;
  /** Told of each question to the database that failed. */
  onFailure(error: unknown): void;
}

/**
 * What the flags are for somebody: definitions from memory, then what the question leaves open is read, then evaluated.
 * @throws AppError `unavailable` when nobody can say which flags there are.
 */
export async function evaluateQuestion(evaluating: Evaluating): Promise<EvaluatedFlags> {
  const { environmentId, context, data, onFailure } = evaluating;
  const flags = await definitionsOf(environmentId, data);
  const selected = selectFlags(flags, evaluating.selection);
  const needed = neededData(flags, selected, context);
  if (evaluating.onlySentProperties) needed.personProperties = [];
  const stored = needsStoredData(needed)
    ? await loadStoredData(data.database.requests, { ...context, environmentId, flags, needed, onFailure })
    : nothingStored;
  return inTimeSlices(evaluateFlagsInSteps(flags, selected, { ...context, stored, now: Date.now() }));
}

async function definitionsOf(environmentId: number, { definitions }: FlagData): Promise<CompiledFlags> {
  try {
    return await definitions.get(environmentId);
  } catch (cause) {
    throw new AppError('unavailable', 'The flags of the project cannot be read now.', { cause });
  }
}
