import { createHash } from 'node:crypto';
import type { CompiledFlags, EvaluationContext, StoredData } from '@millrace/flags';
import type { KeyValue } from '@millrace/runtime/cache';

/**
 * A first login is often seen here before any event has created a person, so there is nothing to store the anonymous id with. It
 * is kept in the cache until the person exists (docs/flags.md#experience-continuity).
 */
export interface IdsBeforeLogin {
  /** Null when nothing is kept, or the cache does not answer: then the flag is decided by the distinct id. */
  recall(environmentId: number, distinctId: string): Promise<string | null>;
  /** @returns the id that counts: the first one that was remembered. */
  remember(environmentId: number, distinctId: string, anonymousDistinctId: string): Promise<string>;
  forget(environmentId: number, distinctId: string): Promise<void>;
}

/** Long enough for persons whose first event comes late, short enough to forget ids that never send one. */
const keptSeconds = 7 * 86_400;

export function createIdsBeforeLogin(cache: Pick<KeyValue, 'get' | 'setIfAbsent' | 'delete'>): IdsBeforeLogin {
  const recall: IdsBeforeLogin['recall'] = (environmentId, distinctId) =>
    cache.get(keyOf(environmentId, distinctId)).catch(() => null);
  return {
    recall,
    async remember(environmentId, distinctId, anonymousDistinctId) {
      const key = keyOf(environmentId, distinctId);
      const isFirst = await cache.setIfAbsent(key, anonymousDistinctId, keptSeconds).catch(() => true);
      return isFirst ? anonymousDistinctId : ((await recall(environmentId, distinctId)) ?? anonymousDistinctId);
    },
    forget: (environmentId, distinctId) => cache.delete(keyOf(environmentId, distinctId)).catch(() => {}),
  };
}

/** Hashed, because a distinct id is often an e-mail address. */
function keyOf(environmentId: number, distinctId: string): string {
  return `flag-login:${environmentId}:${createHash('sha256').update(distinctId).digest('base64url')}`;
}

interface LoginRequest {
  environmentId: number;
  context: Omit<EvaluationContext, 'stored' | 'now'>;
  flags: CompiledFlags;
  stored: StoredData;
  /** Reads the stored ids again, as if the request had named this id. Stores it when the person exists. */
  loadWith(anonymousDistinctId: string): Promise<StoredData['hashKeyOverrides']>;
}

/** Keeps or finds the id before login of a person that is not stored yet. @returns what the flags are evaluated with. */
export async function withIdBeforeLogin(
  ids: IdsBeforeLogin,
  { environmentId, context, flags, stored, loadWith }: LoginRequest,
): Promise<Pick<LoginRequest, 'context' | 'stored'>> {
  const { distinctId, anonymousDistinctId } = context;
  if (!lacksIds(flags, stored.hashKeyOverrides)) return { context, stored };
  if (anonymousDistinctId !== undefined) {
    const first = await ids.remember(environmentId, distinctId, anonymousDistinctId);
    return { context: { ...context, anonymousDistinctId: first }, stored };
  }
  const recalled = await ids.recall(environmentId, distinctId);
  if (recalled === null) return { context, stored };
  const hashKeyOverrides = await loadWith(recalled);
  if (hashKeyOverrides !== 'unavailable' && !lacksIds(flags, hashKeyOverrides)) {
    await ids.forget(environmentId, distinctId);
  }
  return { context: { ...context, anonymousDistinctId: recalled }, stored: { ...stored, hashKeyOverrides } };
}

/** Whether a flag that keeps the experience has no stored id. */
function lacksIds({ inOrder }: CompiledFlags, overrides: StoredData['hashKeyOverrides']): boolean {
  if (overrides === 'unavailable') return false;
  return inOrder.some(({ keepsExperience, key }) => keepsExperience && !overrides.has(key));
}
