import { isLongerThan } from '@millrace/contracts';
import { type ProjectLedger, setGroupType } from '../model/ledger.ts';
import { maxIdCharacters } from '../values/text-length.ts';

/** Group types of a project have the indexes 0 to 4; their keys are the event properties `$group_0` to `$group_4`. */
const maxGroupTypes = 5;

/** Over-long types get no index, so that they cannot fail a batch (docs/ingestion-rules.md#groups). */
export function isGroupTypeTooLong(type: string): boolean {
  return isLongerThan(type, maxIdCharacters);
}

/**
 * The index of a group type. An unknown type takes the lowest free index; null when all five are taken, or for a type
 * that cannot be one (empty, too long). Nobody is warned about a sixth type (docs/ingestion-rules.md#groups).
 */
export function resolveGroupType(type: string, createdAtMs: number, ledger: ProjectLedger): number | null {
  const known = ledger.groupTypes.get(type);
  if (known !== undefined) return known.index;
  if (type === '' || isGroupTypeTooLong(type)) return null;
  const index = lowestFreeIndex(ledger);
  if (index !== null) setGroupType(ledger, type, { index, createdAtMs, isNew: true });
  return index;
}

function lowestFreeIndex(ledger: ProjectLedger): number | null {
  const taken = new Set(Array.from(ledger.groupTypes.values(), (groupType) => groupType.index));
  for (let index = 0; index < maxGroupTypes; index += 1) {
    if (!taken.has(index)) return index;
  }
  return null;
}
