// Validates a feature flag's filters: release conditions, variants and payloads.

import { isObject } from '@millrace/contracts';
import type { ValidatedPatterns } from '@millrace/flags';
import {
  abbreviate,
  type FlagCondition,
  type FlagFilters,
  type FlagVariant,
  filterError,
  quoteJson,
} from './filters.ts';
import { parseConditionFilter } from './parse-filter.ts';

/**
 * Maximum size of the filters in bytes. It is limited because each gateway, and each SDK with local evaluation, reads
 * the filters again whenever they change.
 */
const maxBytes = 256 * 1024;
const maxConditions = 1000;

export interface FiltersToParse {
  /** The keys that the client sent. All other keys keep their stored values. */
  sent: Record<string, unknown>;
  /** The stored filters of an existing flag, as the API shows them. */
  stored: Record<string, unknown> | null;
  /** The results of compiling slow patterns in advance. All other patterns are compiled during validation. */
  tried?: ValidatedPatterns | undefined;
}

/**
 * Validates the filters of a flag and normalizes them for storage. Sent keys replace stored ones, and the combined
 * filters are checked. Does not read the database, so the caller must check that the cohorts and flags exist.
 * @throws AppError `invalid` naming the problem
 */
export function parseFlagFilters({ sent, stored, tried = new Map() }: FiltersToParse): FlagFilters {
  if (Object.hasOwn(sent, 'version')) {
    throw filterError('filters.version is reserved. Remove it from the request.', 'reserved_config_version');
  }
  const whole = { ...stored, ...sent };
  checkSize(whole);
  const variants = parseVariants(whole.multivariate);
  const aggregation = parseAggregation(whole.aggregation_group_type_index, 'aggregation_group_type_index');
  const knownPatterns = patternsIn(stored?.groups);
  const groups = conditionsOf(whole.groups, { mayBeEmpty: stored !== null }).map((condition, index) =>
    parseCondition(condition, { path: `groups[${index}]`, aggregation, variants, knownPatterns, tried }),
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
  if (Buffer.byteLength(JSON.stringify(filters)) <= maxBytes) return;
  throw filterError(`Feature flag filters exceed maximum size of ${maxBytes / 1024} KiB.`);
}

function conditionsOf(groups: unknown, { mayBeEmpty }: { mayBeEmpty: boolean }): unknown[] {
  const list = groups ?? [];
  if (!Array.isArray(list)) throw filterError(`groups: must be a list of condition sets, not ${quoteJson(groups)}`);
  if (list.length === 0 && !mayBeEmpty) {
    throw filterError('Feature flags must have at least one condition set (group)');
  }
  if (list.length > maxConditions)
    throw filterError(`groups: must not contain more than ${maxConditions} condition sets`);
  return list;
}

/** Returns the group type of all conditions, or null if the conditions have different types. */
function commonAggregation(groups: FlagCondition[], ownOfFlag: number | null): number | null {
  const [first, ...others] = groups.map((group) => group.aggregation_group_type_index);
  if (first === undefined) return ownOfFlag;
  return others.every((other) => other === first) ? first : null;
}

function checkSwitches({ holdout, feature_enrollment, early_exit }: Record<string, unknown>): void {
  for (const [name, value] of Object.entries({ feature_enrollment, early_exit })) {
    if (value === undefined || value === null || typeof value === 'boolean') continue;
    throw filterError(`${name}: must be true or false, not ${quoteJson(value)}`);
  }
  if (holdout === undefined || holdout === null) return;
  if (!isObject(holdout) || !Number.isSafeInteger(holdout.id) || typeof holdout.exclusion_percentage !== 'number') {
    throw filterError('holdout: must be null or {"id": integer, "exclusion_percentage": number}');
  }
}

/**
 * Returns the regular expressions in stored conditions. They are not checked again, so that they do not block other
 * changes.
 */
function patternsIn(groups: unknown): ReadonlySet<unknown> {
  const conditions = Array.isArray(groups) ? groups.filter(isObject) : [];
  const filters = conditions.flatMap(({ properties }) =>
    Array.isArray(properties) ? properties.filter(isObject) : [],
  );
  return new Set(filters.map(({ value }) => value).filter((value) => typeof value === 'string'));
}

/** Returns the index of a group type, or null for persons. */
function parseAggregation(value: unknown, path: string): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 4) return value;
  throw filterError(`${path}: must be the index of a group type (0 to 4) or null, not ${quoteJson(value)}`);
}

const maxFilters = 1000;

interface ConditionRules {
  /** The path of the condition, such as `groups[0]`. */
  path: string;
  /** The default group type for conditions, or null for persons. */
  aggregation: number | null;
  variants: readonly FlagVariant[];
  /** Patterns that are already stored and are not checked again. */
  knownPatterns: ReadonlySet<unknown>;
  tried: ValidatedPatterns;
}

/** Parses a condition set, and adds its group type. @throws AppError `invalid` */
function parseCondition(condition: unknown, rules: ConditionRules): FlagCondition {
  const { path, variants, knownPatterns, tried } = rules;
  if (!isObject(condition)) throw filterError(`${path}: must be a condition set, not ${quoteJson(condition)}`);
  const { properties = [], rollout_percentage: rollout, variant } = condition;
  const aggregation = Object.hasOwn(condition, 'aggregation_group_type_index')
    ? parseAggregation(condition.aggregation_group_type_index, `${path}.aggregation_group_type_index`)
    : rules.aggregation;
  const filters = properties ?? [];
  if (!Array.isArray(filters)) throw filterError(`${path}.properties: must be a list of filters`);
  if (filters.length > maxFilters)
    throw filterError(`${path}.properties: must not contain more than ${maxFilters} filters`);
  checkRollout(rollout, `${path}.rollout_percentage`);
  checkVariant(variant, variants);
  return {
    ...condition,
    properties: filters.map((filter, index) =>
      parseConditionFilter(filter, { path: `${path}.properties[${index}]`, aggregation, knownPatterns, tried }),
    ),
    aggregation_group_type_index: aggregation,
  };
}

/** A missing percentage and null both mean 100%. */
function checkRollout(value: unknown, path: string): void {
  if (value === undefined || value === null) return;
  if (typeof value === 'number' && value >= 0 && value <= 100) return;
  throw filterError(`${path}: must be a number from 0 to 100, not ${quoteJson(value)}`);
}

function checkVariant(variant: unknown, variants: readonly FlagVariant[]): void {
  if (variant === undefined || variant === null || variant === '') return;
  if (variants.some(({ key }) => key === variant)) return;
  throw filterError('Filters are not valid (variant override does not exist)');
}

const maxVariants = 1000;

/** Returns the variants of a flag, or an empty list for a boolean flag. @throws AppError `invalid` */
function parseVariants(multivariate: unknown): FlagVariant[] {
  if (multivariate === undefined || multivariate === null) return [];
  const list = isObject(multivariate) ? (multivariate.variants ?? []) : undefined;
  if (!Array.isArray(list)) throw filterError('multivariate: must be null or {"variants": [...]}');
  if (list.length > maxVariants)
    throw filterError(`multivariate.variants: must not contain more than ${maxVariants} variants`);
  const variants = list.map((variant, index) => parseVariant(variant, `multivariate.variants[${index}]`));
  checkKeys(variants);
  checkSum(variants);
  return variants;
}

function parseVariant(variant: unknown, path: string): FlagVariant {
  if (!isObject(variant)) throw filterError(`${path}: must be a variant object, not ${quoteJson(variant)}`);
  const { key, rollout_percentage: share } = variant;
  if (typeof key !== 'string' || key === '' || key.length > 400) {
    throw filterError(`${path}.key: must be a string of 1 to 400 characters`);
  }
  if (typeof share !== 'number' || !(share >= 0 && share <= 100)) {
    throw filterError(`${path}.rollout_percentage: must be a number from 0 to 100, not ${quoteJson(share)}`);
  }
  return { ...variant, key, rollout_percentage: share };
}

function checkKeys(variants: FlagVariant[]): void {
  const seen = new Set<string>();
  for (const { key } of variants) {
    if (seen.has(key)) throw filterError(`Variant keys must be unique, duplicated: ${abbreviate(key)}.`);
    seen.add(key);
  }
}

/** The sum of the percentages can deviate from 100 by 0.01, because a third is written with two or three decimals. */
function checkSum(variants: FlagVariant[]): void {
  if (variants.length === 0) return;
  const sum = variants.reduce((total, variant) => total + variant.rollout_percentage, 0);
  if (Math.abs(sum - 100) < 0.011) return;
  throw filterError('Invalid variant definitions: Variant rollout percentages must sum to 100.');
}

/** Converts payloads to JSON strings. Null removes a payload. @throws AppError `invalid` */
function parsePayloads(
  payloads: unknown,
  { variants, holdout }: { variants: readonly FlagVariant[]; holdout: unknown },
): Record<string, string> {
  if (payloads === null) return {};
  if (!isObject(payloads)) throw filterError('Payloads must be passed as a dictionary');
  const entries = Object.entries(payloads).filter(([, payload]) => payload !== null);
  const keys = new Set(variants.length > 0 ? variants.map(({ key }) => key) : ['true']);
  // Users in the holdout get this variant, which the flag does not declare.
  if (isObject(holdout)) keys.add(`holdout-${String(holdout.id)}`);
  if (entries.some(([key]) => !keys.has(key))) {
    throw filterError(
      variants.length > 0
        ? 'Payload keys must match a variant key for multivariate flags'
        : "Payload keys must be 'true' for boolean flags",
    );
  }
  return Object.fromEntries(entries.map(([key, payload]) => [key, jsonText(payload)]));
}

function jsonText(payload: unknown): string {
  if (typeof payload !== 'string') return JSON.stringify(payload);
  try {
    JSON.parse(payload);
  } catch {
    throw filterError('Payload value is not valid JSON.');
  }
  return payload;
}
