import { isObject } from '@millrace/contracts';
import { brief, filterProblem } from './filter-problem.ts';
import type { FlagCondition, FlagFilters } from './flag-filters.ts';
import { parseAggregation } from './parse-aggregation.ts';
import { parseCondition } from './parse-condition.ts';
import { parsePayloads } from './parse-payloads.ts';
import { parseVariants } from './parse-variants.ts';

/** Larger ones are read by every gateway at every change, and by every SDK that evaluates by itself. */
const mostBytes = 256 * 1024;
const mostConditions = 1000;

export interface FiltersToParse {
  /** Keys that are not sent stay as they are stored. */
  sent: Record<string, unknown>;
  /** Of a flag that is changed, in the form in which it is shown. */
  stored: Record<string, unknown> | null;
}

/**
 * Checks the filters of a flag and brings them into the form in which they are stored: what is sent above what is stored,
 * the whole of it as it will be. Pure; whether cohorts and flags exist that they name is asked later.
 *
 * @throws AppError `invalid` naming what is wrong.
 */
export function parseFlagFilters({ sent, stored }: FiltersToParse): FlagFilters {
  if (Object.hasOwn(sent, 'version')) {
    throw filterProblem('filters.version is reserved. Remove it from the request.', 'reserved_config_version');
  }
  const whole = { ...stored, ...sent };
  checkSize(whole);
  const variants = parseVariants(whole.multivariate);
  const aggregation = parseAggregation(whole.aggregation_group_type_index, 'aggregation_group_type_index');
  const knownPatterns = patternsIn(stored?.groups);
  const groups = conditionsOf(whole.groups, { mayBeEmpty: stored !== null }).map((condition, index) =>
    parseCondition(condition, { path: `groups[${index}]`, aggregation, variants, knownPatterns }),
  );
  checkSwitches(whole);
  const { payloads, multivariate, ...others } = whole;
  return {
    ...others,
    groups,
    ...(multivariate !== undefined && { multivariate: multivariate as FlagFilters['multivariate'] }),
    ...(payloads !== undefined && { payloads: parsePayloads(payloads, { variants, holdout: whole.holdout }) }),
    aggregation_group_type_index: commonAggregation(groups, aggregation),
  };
}

function checkSize(filters: object): void {
  if (Buffer.byteLength(JSON.stringify(filters)) <= mostBytes) return;
  throw filterProblem(`Feature flag filters exceed maximum size of ${mostBytes / 1024} KiB.`);
}

function conditionsOf(groups: unknown, { mayBeEmpty }: { mayBeEmpty: boolean }): unknown[] {
  const list = groups ?? [];
  if (!Array.isArray(list)) throw filterProblem(`groups: must be a list of condition sets, not ${brief(groups)}`);
  if (list.length === 0 && !mayBeEmpty) {
    throw filterProblem('Feature flags must have at least one condition set (group)');
  }
  if (list.length > mostConditions) throw filterProblem(`groups: may hold ${mostConditions} condition sets at most`);
  return list;
}

/** That of the conditions where they agree; null where they differ. */
function commonAggregation(groups: FlagCondition[], ownOfFlag: number | null): number | null {
  const [first, ...others] = groups.map((group) => group.aggregation_group_type_index);
  if (first === undefined) return ownOfFlag;
  return others.every((other) => other === first) ? first : null;
}

function checkSwitches({ holdout, feature_enrollment, early_exit }: Record<string, unknown>): void {
  for (const [name, value] of Object.entries({ feature_enrollment, early_exit })) {
    if (value === undefined || value === null || typeof value === 'boolean') continue;
    throw filterProblem(`${name}: must be true or false, not ${brief(value)}`);
  }
  if (holdout === undefined || holdout === null) return;
  if (!isObject(holdout) || !Number.isSafeInteger(holdout.id) || typeof holdout.exclusion_percentage !== 'number') {
    throw filterProblem('holdout: must be null or {"id": integer, "exclusion_percentage": number}');
  }
}

/** Patterns that are stored already: they were taken once, and a change of something else does not fail because of them. */
function patternsIn(groups: unknown): ReadonlySet<unknown> {
  const conditions = Array.isArray(groups) ? groups.filter(isObject) : [];
  const filters = conditions.flatMap(({ properties }) =>
    Array.isArray(properties) ? properties.filter(isObject) : [],
  );
  return new Set(filters.map(({ value }) => value).filter((value) => typeof value === 'string'));
}
