import { createLogger } from '@millrace/runtime';
import { createFairSlots, type FairSlots } from '../poll.ts';

/** Lets a task begin what is due once, in slots of its own, and waits for the end of it. @returns what the task says. */
export async function oneRound(
  begin: (slots: FairSlots) => Promise<boolean>,
  { max = 20, maxEach = 20 } = {},
): Promise<boolean> {
  const slots = createFairSlots('test', { max, maxEach, logger: createLogger('test', 'error') });
  const hasMore = await begin(slots);
  await slots.settle();
  return hasMore;
}
