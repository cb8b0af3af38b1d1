import type { CompiledFlag } from '../compile/compiled.ts';
import { bucketHash } from './bucket-hash.ts';
import type { Evaluation } from './evaluation.ts';

/**
 * The id that is hashed for a flag; null when the request does not say it: no key of the group, no device id.
 * @param aggregation the group type, or null for the person
 */
export function bucketingId(flag: CompiledFlag, aggregation: number | null, evaluation: Evaluation): string | null {
  const { context, values } = evaluation;
  if (aggregation !== null) return values.groupKey(aggregation);
  if (flag.bucketsBy === 'device_id') return context.deviceId || null;
  const { hashKeyOverrides } = context.stored;
  const stored = hashKeyOverrides === 'unavailable' ? undefined : hashKeyOverrides.get(flag.key);
  return stored ?? idBeforeLogin(flag, evaluation);
}

/** The same for a holdout, which asks for no stored ids: it is the same for all flags of a project. */
export function holdoutBucketingId(flag: CompiledFlag, evaluation: Evaluation): string | null {
  if (flag.aggregation !== null || flag.bucketsBy === 'device_id') {
    return bucketingId(flag, flag.aggregation, evaluation);
  }
  return idBeforeLogin(flag, evaluation);
}

function idBeforeLogin(flag: CompiledFlag, { context }: Evaluation): string {
  return (flag.keepsExperience ? context.anonymousDistinctId : undefined) ?? context.distinctId;
}

export function isWithinRollout(flag: CompiledFlag, percentage: number, id: string): boolean {
  return percentage === 100 || rolloutHash(flag, id) <= percentage / 100;
}

export function isHeldOut(percentage: number, id: string): boolean {
  return percentage === 100 || bucketHash('holdout-', id) <= percentage / 100;
}

/** Null when the shares leave a rest and the id falls into it. */
export function variantByHash(flag: CompiledFlag, id: string): string | null {
  if (flag.variants.length === 0) return null;
  const hash = variantHash(flag, id);
  return flag.variants.find(({ upTo }) => hash < upTo)?.key ?? null;
}

export function variantHash(flag: CompiledFlag, id: string): number {
  return id === '' ? 0 : bucketHash(`${flag.key}.`, id, 'variant');
}

/** The empty id is the first of all, without a hash. */
export function rolloutHash(flag: CompiledFlag, id: string): number {
  return id === '' ? 0 : bucketHash(`${flag.key}.`, id);
}
