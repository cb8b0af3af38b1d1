import type { Transaction } from '@millrace/db';
import { announceAnyChange, moveFallbackEpochsOn, moveFlagVersionsOn, moveSequencesOn } from './restore-store.ts';

/** More than anybody has made since the moment that was restored. Ids have 31 bits: there is room for many restores. */
const idStep = 100_000;
const versionStep = 1_000_000;

/**
 * Others have seen counters of a restored database further than they are now: records in the log name environments made since,
 * gateways remember versions of flags, and what they have confirmed. None of these numbers may come to mean something else.
 * @returns how many sequences were moved.
 */
export async function moveCountersOn(tx: Transaction): Promise<number> {
  const sequences = await moveSequencesOn(tx, idStep);
  await moveFlagVersionsOn(tx, versionStep);
  await moveFallbackEpochsOn(tx, versionStep);
  await announceAnyChange(tx);
  return sequences;
}
