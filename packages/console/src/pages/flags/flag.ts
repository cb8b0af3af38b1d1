// Feature flags in the API's format, and functions that describe them for display.

import { describePropertyFilter, type Filter, formatFilterValue } from '../../filters/filter.ts';
import { createDrafts } from '../../parts/drafts.ts';
import { text } from './words.ts';

export interface Flag {
  id: number;
  key: string;
  name: string;
  filters: FlagFilters;
  active: boolean;
  archived: boolean;
  deleted: boolean;
  tags: string[];
  evaluation_contexts: string[];
  evaluation_runtime: string | null;
  ensure_experience_continuity: boolean | null;
  has_encrypted_payloads: boolean | null;
  updated_at: string;
  last_modified_by: { first_name: string; email: string } | null;
  last_called_at: string | null;
  version: number;
  /** `ACTIVE`, `STALE`, `ARCHIVED` or `DELETED`. */
  status: string;
  can_edit: boolean;
  sdk_warnings: string[];
}

/** A flag's conditions, variants and payloads. Saving preserves fields that the console does not recognize. */
export interface FlagFilters extends Record<string, unknown> {
  groups?: Condition[];
  multivariate?: { variants: Variant[] } | null;
  /** Payloads as JSON strings, by variant key. A boolean flag has the key `true`. */
  payloads?: Record<string, string | null>;
}

export interface Condition extends Record<string, unknown> {
  properties?: Filter[];
  rollout_percentage?: number | null;
  variant?: string | null;
  /** Index of the group type. Null if the condition applies to persons. */
  aggregation_group_type_index?: number | null;
}

export interface Variant extends Record<string, unknown> {
  key: string;
  rollout_percentage: number;
}

export interface Page<Item> {
  count: number;
  results: Item[];
}

export const getConditions = ({ groups }: FlagFilters) => groups ?? [];
const variantsOf = ({ multivariate }: FlagFilters) => multivariate?.variants ?? [];

/**
 * Returns the highest rollout percentage of all conditions, or 0 for an inactive flag. `isOfMatching` is true if the
 * percentage applies only to persons who match filters.
 */
export function computeRollout({ active, filters }: Flag): { percentage: number; isOfMatching: boolean } {
  if (!active) return { percentage: 0, isOfMatching: false };
  const rolloutIn = (condition: Condition) => condition.rollout_percentage ?? 100;
  const percentage = Math.max(0, ...getConditions(filters).map(rolloutIn));
  const highest = getConditions(filters).filter((condition) => rolloutIn(condition) === percentage);
  const isOfMatching = percentage > 0 && highest.every(({ properties = [] }) => properties.length > 0);
  return { percentage, isOfMatching };
}

export type KeyOf = (id: string) => string;

export function summarizeFlag({ active, archived, filters }: Flag, keyOf: KeyOf): string {
  if (archived) return text.archived;
  if (!active) return text.off;
  const conditions = getConditions(filters);
  const [first] = conditions;
  const variants = variantsOf(filters).length;
  const parts = [
    conditions.length === 1 && first ? describeFilters(first, keyOf) : text.conditionCount(conditions.length),
    ...(variants > 0 ? [text.variantCount(variants)] : []),
  ];
  return parts.join(' · ');
}

/** Describes a condition's filters, for example as `country is DE or AT, plan is pro`. */
function describeFilters(
  { properties = [], aggregation_group_type_index: groupType }: Condition,
  keyOf: KeyOf,
): string {
  if (properties.length === 0) return typeof groupType === 'number' ? text.everyGroup : text.everyone;
  return properties.map((filter) => describeFilter(filter, keyOf)).join(text.and);
}

function lineOf(condition: Condition, keyOf: KeyOf): string {
  const variant = condition.variant ? ` → ${condition.variant}` : '';
  return `${describeFilters(condition, keyOf)} · ${condition.rollout_percentage ?? 100}%${variant}`;
}

export function describeFilter(filter: Filter, keyOf: KeyOf): string {
  const { type, key, value } = filter;
  return type === 'flag' ? text.flagGives(keyOf(key), String(value)) : describePropertyFilter(filter);
}

/** Describes a flag's conditions, variants and payloads, with one line for each. */
export function describeFlagFilters(filters: FlagFilters, keyOf: KeyOf): string[] {
  const conditions = getConditions(filters).map((condition, at) => `${at + 1}. ${lineOf(condition, keyOf)}`);
  const variants = variantsOf(filters).map(({ key, rollout_percentage: share }) => `${key}: ${share}%`);
  const payloads = Object.entries(filters.payloads ?? {}).map(([key, payload]) =>
    text.payloadLine(key, formatFilterValue(payload)),
  );
  return [...conditions, ...variants, ...payloads];
}

/** The editable fields of a flag. Conditions and variants have local IDs, because users can change their order. */
export interface Draft {
  key: string;
  name: string;
  tags: readonly string[];
  evaluation_contexts: readonly string[];
  evaluation_runtime: string;
  ensure_experience_continuity: boolean;
  conditions: (Condition & { local: number })[];
  variants: (Variant & { local: number; payload: string })[];
  /** The payload of a flag without variants. */
  payload: string;
}

/** Unsaved edits, and the flag version on which they are based. The server uses the version to detect conflicts. */
export interface StoredDraft {
  draft: Draft;
  /** The flag version on which the edits are based, or null for a new flag. */
  base: Flag | null;
}
export type Drafts = ReadonlyMap<string, StoredDraft>;

/** Drafts by flag ID. The draft of a new flag has the key `new`. */
export const flagDrafts = createDrafts<StoredDraft>();

let lastLocal = 0;
export const newLocalId = () => ++lastLocal;

/** The initial values of a new flag. Its rollout percentage is 0, so it is off for all users. */
export const newFlag = { key: '', name: '', filters: { groups: [{ properties: [], rollout_percentage: 0 }] } };

export function createDraft(flag: Partial<Flag> & Pick<Flag, 'key' | 'name' | 'filters'>): Draft {
  const { filters } = flag;
  const payloadOf = (key: string) => formatFilterValue(filters.payloads?.[key] ?? '');
  return {
    key: flag.key,
    name: flag.name,
    tags: flag.tags ?? [],
    evaluation_contexts: flag.evaluation_contexts ?? [],
    evaluation_runtime: flag.evaluation_runtime ?? 'all',
    ensure_experience_continuity: flag.ensure_experience_continuity ?? false,
    conditions: getConditions(filters).map((condition) => ({ ...condition, local: newLocalId() })),
    variants: variantsOf(filters).map((variant) => ({
      ...variant,
      local: newLocalId(),
      payload: payloadOf(variant.key),
    })),
    payload: variantsOf(filters).length > 0 ? '' : payloadOf('true'),
  };
}

/** Converts a draft to API fields. @param stored the flag's stored filters, whose unrecognized fields are preserved */
export function toFlagFields({ conditions, variants, payload, ...draft }: Draft, stored: FlagFilters) {
  const payloads = variants.length > 0 ? variants.map(({ key, payload: own }) => [key, own]) : [['true', payload]];
  const { multivariate: _, payloads: before, ...others } = stored;
  const storedPayloads = Object.fromEntries(payloads.filter(([, json]) => json?.trim() !== ''));
  const filters: FlagFilters = {
    ...others,
    groups: conditions.map(({ local: __, ...condition }) => condition),
    ...((variants.length > 0 || stored.multivariate !== undefined) && {
      multivariate:
        variants.length === 0 ? null : { variants: variants.map(({ local: __, payload: ___, ...variant }) => variant) },
    }),
    ...((before !== undefined || Object.keys(storedPayloads).length > 0) && { payloads: storedPayloads }),
  };
  // Each condition has its own aggregation target, so delete the flag's aggregation target.
  delete filters.aggregation_group_type_index;
  return { ...draft, filters };
}

/** Returns the changed fields for a PATCH request. */
export function findChanges(draft: Draft, base: Flag): Partial<ReturnType<typeof toFlagFields>> {
  const now = toFlagFields(draft, base.filters);
  const before = toFlagFields(createDraft(base), base.filters);
  return Object.fromEntries(
    Object.entries(now).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof typeof before]),
    ),
  );
}
