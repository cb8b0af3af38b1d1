import { isObject } from '@millrace/contracts';
import { brief, filterProblem } from './filter-problem.ts';
import type { FlagVariant } from './flag-filters.ts';

const mostVariants = 1000;

/** The variants of a flag; none for a flag that is only on or off. @throws AppError `invalid`. */
export function parseVariants(multivariate: unknown): FlagVariant[] {
  if (multivariate === undefined || multivariate === null) return [];
  const list = isObject(multivariate) ? (multivariate.variants ?? []) : undefined;
  if (!Array.isArray(list)) throw filterProblem('multivariate: must be null or {"variants": [...]}');
  if (list.length > mostVariants) throw filterProblem(`multivariate.variants: may hold ${mostVariants} at most`);
  const variants = list.map((variant, index) => parseVariant(variant, `multivariate.variants[${index}]`));
  checkKeys(variants);
  checkSum(variants);
  return variants;
}

function parseVariant(variant: unknown, path: string): FlagVariant {
  if (!isObject(variant)) throw filterProblem(`${path}: must be a variant, not ${brief(variant)}`);
  const { key, rollout_percentage: share } = variant;
  if (typeof key !== 'string' || key === '' || key.length > 400) {
    throw filterProblem(`${path}.key: must be a text of 1 to 400 characters`);
  }
  if (typeof share !== 'number' || !(share >= 0 && share <= 100)) {
    throw filterProblem(`${path}.rollout_percentage: must be a number from 0 to 100, not ${brief(share)}`);
  }
  return { ...variant, key, rollout_percentage: share };
}

function checkKeys(variants: FlagVariant[]): void {
  const seen = new Set<string>();
  for (const { key } of variants) {
    if (seen.has(key)) throw filterProblem(`Variant keys must be unique, duplicated: ${brief(key)}.`);
    seen.add(key);
  }
}

/** Thirds are written with two or three digits: what is missing then is one in ten thousand at most. */
function checkSum(variants: FlagVariant[]): void {
  if (variants.length === 0) return;
  const sum = variants.reduce((total, variant) => total + variant.rollout_percentage, 0);
  if (Math.abs(sum - 100) < 0.011) return;
  throw filterProblem('Invalid variant definitions: Variant rollout percentages must sum to 100.');
}
