import { isTransientError } from '@millrace/db';
import type { Logger } from '@millrace/runtime';

/** Who holds how many slots; for a claim that takes turns between organizations (`claim…` in the stores). */
export interface SlotUsage {
  organizationIds: string[];
  counts: number[];
  /** At most so many slots for one organization. */
  maxEach: number;
  /** The organization that was served last: those behind it come first. */
  last: string;
}

/** Room for things that are done side by side, of which one organization gets no more than a part. */
export interface FairSlots {
  free(): number;
  usage(): SlotUsage;
  /** Does a piece of work beside the others. What it throws is logged. */
  start(organizationId: string, work: () => Promise<void>): void;
  /** Resolves when a slot was given back. */
  released(): Promise<unknown>;
  /** Resolves when nothing is under way. */
  settle(): Promise<void>;
}

const nobody = '00000000-0000-0000-0000-000000000000';

export function createFairSlots(
  task: string,
  { max, maxEach, logger }: { max: number; maxEach: number; logger: Logger },
): FairSlots {
  const taken = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  let last = nobody;

  async function run(organizationId: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      // What it had claimed is free again when its lease is over.
      logger.log(isTransientError(error) ? 'warn' : 'error', 'a task failed', { task, error });
    }
    const left = (taken.get(organizationId) ?? 0) - 1;
    if (left > 0) taken.set(organizationId, left);
    else taken.delete(organizationId);
  }

  return {
    free: () => max - underWay.size,
    usage: () => ({ organizationIds: [...taken.keys()], counts: [...taken.values()], maxEach, last }),
    start(organizationId, work) {
      last = organizationId;
      taken.set(organizationId, (taken.get(organizationId) ?? 0) + 1);
      const running: Promise<void> = run(organizationId, work).finally(() => underWay.delete(running));
      underWay.add(running);
    },
    released: () => Promise.race(underWay),
    async settle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
