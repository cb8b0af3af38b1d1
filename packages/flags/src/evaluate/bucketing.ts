// Assigns persons and groups to rollouts and variants by a hash of their ID.

import { hash } from 'node:crypto';
import type { CompiledFlag } from '../compile/compiled.ts';
import type { Evaluation } from './evaluation-state.ts';

/**
 * Returns the ID to hash for a flag. Returns null if the request does not contain the required group key or device ID.
 * @param aggregation the group type whose key is hashed, or null for the person
 */
export function findBucketingId(flag: CompiledFlag, aggregation: number | null, evaluation: Evaluation): string | null {
  const { context, values } = evaluation;
  if (aggregation !== null) return values.groupKey(aggregation);
  if (flag.bucketsBy === 'device_id') return context.deviceId || null;
  const { hashKeyOverrides } = context.stored;
  const stored = hashKeyOverrides === 'unavailable' ? undefined : hashKeyOverrides.get(flag.key);
  return stored ?? idBeforeLogin(flag, evaluation);
}

/**
 * Returns the ID to hash for a holdout, or null as `findBucketingId` does. Ignores stored hash keys, because a holdout
 * is the same for all of a project's flags.
 */
export function findHoldoutBucketingId(flag: CompiledFlag, evaluation: Evaluation): string | null {
  if (flag.aggregation !== null || flag.bucketsBy === 'device_id') {
    return findBucketingId(flag, flag.aggregation, evaluation);
  }
  return idBeforeLogin(flag, evaluation);
}

function idBeforeLogin(flag: CompiledFlag, { context }: Evaluation): string {
  return (flag.keepsExperience ? context.anonymousDistinctId : undefined) ?? context.distinctId;
}

export function isWithinRollout(flag: CompiledFlag, percentage: number, id: string): boolean {
  return percentage === 100 || computeRolloutHash(flag, id) <= percentage / 100;
}

export function isHeldOut(percentage: number, id: string): boolean {
  return percentage === 100 || computeBucketHash('holdout-', id) <= percentage / 100;
}

/** Chooses a variant by hash. Returns null if the shares add up to less than 1 and the ID is outside all shares. */
export function chooseVariantByHash(flag: CompiledFlag, id: string): string | null {
  if (flag.variants.length === 0) return null;
  const hash = computeVariantHash(flag, id);
  return flag.variants.find(({ upTo }) => hash < upTo)?.key ?? null;
}

export function computeVariantHash(flag: CompiledFlag, id: string): number {
  return id === '' ? 0 : computeBucketHash(`${flag.key}.`, id, 'variant');
}

/** As in PostHog, an empty ID is at position 0. */
export function computeRolloutHash(flag: CompiledFlag, id: string): number {
  return id === '' ? 0 : computeBucketHash(`${flag.key}.`, id);
}

/** The divisor for 15 hexadecimal digits: the double closest to the largest number with 15 such digits. */
const scale = 2 ** 60;

/**
 * Maps an ID to a position between 0 and 1, computed from the first 15 hexadecimal digits of a SHA-1 hash. Every SDK
 * computes the same position.
 * @param prefix the flag's key and a dot, or `holdout-` for holdouts, which are the same for all flags
 * @param salt an empty string for rollouts and `variant` for variants, so that rollouts and variants are independent
 */
export function computeBucketHash(prefix: string, id: string, salt = ''): number {
  return Number.parseInt(hash('sha1', `${prefix}${id}${salt}`, 'hex').slice(0, 15), 16) / scale;
}
