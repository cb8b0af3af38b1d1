import { LRUCache } from 'lru-cache';
import { v5 as uuidV5 } from 'uuid';
import type { WarningType } from '../model/warning.ts';
import type { StoredWarning } from './warning-store.ts';

/** What somebody has to look into one by one (docs/ingestion-rules.md#warnings). */
const neverFolded = new Set<WarningType>([
  'cannot_merge_already_identified',
  'cannot_merge_with_illegal_distinct_id',
  'invalid_event_when_process_person_profile_is_false',
]);

/** So many of a kind are stored one by one for a project in each minute. */
const singlesPerMinute = 20;
const minuteMs = 60_000;
/** Projects and kinds that are remembered. The oldest are forgotten, and begin a new minute when they come back. */
const maxRemembered = 10_000;
/** Namespace of the ids of folded warnings. Never change it. */
const namespace = 'd7e5a1ac-6c1c-4d6b-9a45-0f4f1a3c8b52';

/** Takes a batch's warnings and returns what is to be stored of them. */
export type WarningThrottle = (warnings: StoredWarning[]) => StoredWarning[];

/**
 * A client with a fault raises the same warning with every event. When a project has had enough warnings of a kind in a
 * minute, the further ones of a batch become one row, with the details of the first and their number as `count`: each
 * is counted, and a flood of bad events is no flood of rows.
 *
 * Only warnings about events that are decided now are folded. A repeated event raises none, so no warning is stored
 * twice when the second attempt folds differently.
 */
export function createWarningThrottle(now: () => number): WarningThrottle {
  const minutes = new LRUCache<string, { endsAtMs: number; singles: number }>({ max: maxRemembered });

  function isSingle({ projectId, type }: StoredWarning): boolean {
    if (neverFolded.has(type)) return true;
    const key = `${projectId}:${type}`;
    let minute = minutes.get(key);
    if (minute === undefined || minute.endsAtMs <= now()) {
      minute = { endsAtMs: now() + minuteMs, singles: 0 };
      minutes.set(key, minute);
    }
    minute.singles += 1;
    return minute.singles <= singlesPerMinute;
  }

  return (warnings) => {
    const stored: StoredWarning[] = [];
    const folded = new Map<string, StoredWarning>();
    for (const warning of warnings) {
      if (isSingle(warning)) {
        stored.push(warning);
        continue;
      }
      const key = `${warning.projectId}:${warning.type}`;
      const first = folded.get(key);
      if (first === undefined) folded.set(key, { ...warning, id: uuidV5(warning.id, namespace) });
      else first.count += warning.count;
    }
    return [...stored, ...folded.values()];
  };
}
