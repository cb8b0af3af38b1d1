// Caches the anonymous IDs of users who have just signed in, so that their feature flags keep their values.

import { createHash } from 'node:crypto';
import type { CompiledFlags, EvaluationContext, StoredData } from '@millrace/flags';
import type { KeyValueStore } from '@millrace/runtime/cache';

/**
 * Caches anonymous IDs. The first flag request after a login often arrives before any event has created the person, so
 * the anonymous ID cannot be stored with the person yet (docs/flags.md#experience-continuity).
 */
export interface AnonymousIdCache {
  /**
   * Returns null if no anonymous ID is cached or the cache does not respond. The flag is then evaluated with the
   * distinct ID.
   */
  recall(environmentId: number, distinctId: string): Promise<string | null>;
  /**
   * Stores an anonymous ID for a distinct ID that does not have one yet.
   * @returns the ID to use, which is the one that was stored first
   */
  remember(environmentId: number, distinctId: string, anonymousDistinctId: string): Promise<string>;
  forget(environmentId: number, distinctId: string): Promise<void>;
}

/** This is long enough for a person whose first event is late. IDs that never send an event are deleted. */
const ttlSeconds = 7 * 86_400;

export function createAnonymousIdCache(cache: Pick<KeyValueStore, 'get' | 'setIfAbsent' | 'delete'>): AnonymousIdCache {
  const recall: AnonymousIdCache['recall'] = (environmentId, distinctId) =>
    cache.get(keyOf(environmentId, distinctId)).catch(() => null);
  return {
    recall,
    async remember(environmentId, distinctId, anonymousDistinctId) {
      const key = keyOf(environmentId, distinctId);
      const isFirst = await cache.setIfAbsent(key, anonymousDistinctId, ttlSeconds).catch(() => true);
      return isFirst ? anonymousDistinctId : ((await recall(environmentId, distinctId)) ?? anonymousDistinctId);
    },
    forget: (environmentId, distinctId) => cache.delete(keyOf(environmentId, distinctId)).catch(() => {}),
  };
}

/** Hashes the distinct ID, because it is often an email address. */
function keyOf(environmentId: number, distinctId: string): string {
  return `flag-login:${environmentId}:${createHash('sha256').update(distinctId).digest('base64url')}`;
}

interface LoginRequest {
  environmentId: number;
  context: Omit<EvaluationContext, 'stored' | 'now'>;
  flags: CompiledFlags;
  stored: StoredData;
  /**
   * Loads the stored overrides as if the request contained this anonymous ID. If the person exists, also stores the ID.
   */
  loadWith(anonymousDistinctId: string): Promise<StoredData['hashKeyOverrides']>;
}

/** Caches or recalls the anonymous ID of a person that does not exist yet, and returns the input for the evaluation. */
export async function loadWithAnonymousId(
  ids: AnonymousIdCache,
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

function lacksIds({ inOrder }: CompiledFlags, overrides: StoredData['hashKeyOverrides']): boolean {
  if (overrides === 'unavailable') return false;
  return inOrder.some(({ keepsExperience, key }) => keepsExperience && !overrides.has(key));
}
