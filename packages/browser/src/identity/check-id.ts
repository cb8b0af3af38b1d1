import type { Log } from '../client/core.ts';

/** Ids that only a mistake gives: they would make one person of many visitors. */
const mistakes = ['undefined', 'null', 'distinct_id', 'distinctid', '$posthog_cookieless'];

/** The id as text; undefined, and an error on the console, where it cannot be one. */
export function checkId(given: unknown, log: Log): string | undefined {
  const id = typeof given === 'number' ? String(given) : given;
  if (typeof given === 'number') log.warn('identify takes a number as text');
  if (typeof id === 'string' && id.trim() !== '' && !mistakes.includes(id.toLowerCase())) return id;
  log.error('identify needs the id of one visitor, not', given);
  return undefined;
}
