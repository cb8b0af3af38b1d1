import { createLogger } from '@millrace/runtime';
import { createFairSlots, type FairSlots } from '../poll.ts';

/** Makes a task start its due work once and waits until that work has ended. @returns the task's result */
export async function runOneRound(
  begin: (slots: FairSlots) => Promise<boolean>,
  { max = 20, maxEach = 20 } = {},
): Promise<boolean> {
  const slots = createFairSlots('test', { max, maxEach, logger: createLogger('test', 'error') });
  const hasMore = await begin(slots);
  await slots.settle();
  return hasMore;
}
