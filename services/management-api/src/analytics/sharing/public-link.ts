// Handles access through public links, which show results to visitors who are not signed in. Unknown links and links
// that were turned off get the same response.

import type { Sql } from '@millrace/db';
import type { ApiRequest } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import type { KeyValueStore } from '@millrace/runtime/cache';
import {
  createGuessLimit,
  createRateLimit,
  createThrottledError,
  type GuessLimit,
  type RateLimit,
  toNetwork,
} from '../../access/rate-limit.ts';
import { hasRecordLevel, type RecordRights, readRightsOfEveryMember } from '../../access/record-rights.ts';
import { findPublicLink, type SharedLink } from './store.ts';

export interface LinkLimits {
  /** Limits all requests from an IP address. */
  visits: RateLimit;
  /** Limits an IP address's requests for unknown links. */
  guesses: GuessLimit;
  /** Limits how often an insight's result is computed for a link. */
  computations: RateLimit;
}

/**
 * Maximum number of times per minute that an insight's result is computed for a link. Fresh results come from the
 * cache. The limit therefore affects only results that cannot be cached, because they failed or are too large.
 */
const computationsPerMinute = 3;

/**
 * Creates the limits of public links. `requestsPerMinute` and `wrongPerMinute` apply to each IP address. 0 means no
 * limit.
 */
export function createLinkLimits(
  keyValue: KeyValueStore,
  { requestsPerMinute, wrongPerMinute }: { requestsPerMinute: number; wrongPerMinute: number },
): LinkLimits {
  const perMinute = (name: string, limit: number) =>
    createRateLimit({ keyValue, name, windows: [{ seconds: 60, limit }] });
  return {
    visits: perMinute('shared', requestsPerMinute),
    guesses: createGuessLimit(perMinute('shared wrong', wrongPerMinute), { what: 'an invalid public link' }),
    computations: perMinute('shared computation', computationsPerMinute),
  };
}

export interface OpenLink extends SharedLink {
  /** The rights that every project member has. */
  rights: RecordRights;
}

const tokenPattern = /^[\w-]{43}$/;

/**
 * Finds the link of a token. Reads the database each time, so that a link stops working immediately when it is turned
 * off, replaced or deleted.
 * @throws AppError `rate_limited`, or the same `not_found` for every link that does not work
 */
export async function openPublicLink(
  { sql, limits: { visits, guesses } }: { sql: Sql; limits: LinkLimits },
  token: string,
  { address }: Pick<ApiRequest, 'address'>,
): Promise<OpenLink> {
  guesses.check(address, token);
  const wait = await visits.take(toNetwork(address));
  if (wait !== null) throw createThrottledError(wait, 'Your IP address sent too many requests for public links.');
  const link = tokenPattern.test(token) ? await findPublicLink(sql, token) : undefined;
  const rights = link && (await readRightsOfEveryMember(sql, link.environmentId));
  if (link && rights && hasRecordLevel(rights, link.record.kind, 'viewer', { id: link.record.id, createdById: null })) {
    guesses.recordSuccess(token);
    return { ...link, rights };
  }
  await guesses.recordFailure(address);
  throw new AppError('not_found', 'Not found.');
}
