import { createLogger } from '@millrace/runtime';
import { createFairPlaces, type FairPlaces } from '../fair-places.ts';

/** Lets a task begin what is due once, in places of its own, and waits for the end of it. @returns what the task says. */
export async function oneRound(
  begin: (places: FairPlaces) => Promise<boolean>,
  { most = 20, mostEach = 20 } = {},
): Promise<boolean> {
  const places = createFairPlaces('test', { most, mostEach, logger: createLogger('test', 'error') });
  const hasMore = await begin(places);
  await places.settle();
  return hasMore;
}
