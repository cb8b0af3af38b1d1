import { readFileSync } from 'node:fs';
import { UsageError } from '../refusals.ts';
import type { Filters, Flag } from './flag-answers.ts';

export interface ChangeOptions {
  rollout?: number;
  name?: string;
  filters?: string;
  active?: boolean;
}

/**
 * What is sent to the API for the options of `flags create` and `flags set`; what they do not name stays as it is. What is allowed, the API
 * knows.
 * @throws UsageError for filters that cannot be read, or a rollout that says nothing of several conditions.
 */
export function flagChanges(options: ChangeOptions, stored?: Flag): Record<string, unknown> {
  const filters = withRollout(options, stored);
  return {
    ...(options.name !== undefined && { name: options.name }),
    ...(filters !== undefined && { filters }),
    ...(options.active !== undefined && { active: options.active }),
  };
}

/** A rollout is that of the only condition: of those given, else of the stored ones, else for everybody. */
function withRollout({ filters: text, rollout }: ChangeOptions, stored?: Flag): Filters | undefined {
  const given = text === undefined ? undefined : readFilters(text);
  if (rollout === undefined) return given;
  const filters = given ?? {};
  const groups = filters.groups ?? stored?.filters.groups ?? [{}];
  const [only, ...others] = Array.isArray(groups) ? groups : [];
  if (others.length > 0) {
    throw new UsageError('--rollout: the flag has several conditions; say the rollout of each in --filters');
  }
  return { ...filters, groups: [{ ...(only ?? {}), rollout_percentage: rollout }] };
}

/** JSON, or the name of a file with it behind `@`. */
function readFilters(text: string): Filters {
  let filters: unknown;
  try {
    filters = JSON.parse(text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text);
  } catch (error) {
    throw new UsageError(`--filters: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof filters !== 'object' || filters === null || Array.isArray(filters)) {
    throw new UsageError('--filters: give a JSON object, or @ and the name of a file with one');
  }
  return { ...filters };
}
