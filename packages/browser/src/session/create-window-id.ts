import type { Options } from '../client/client.ts';
import { attempt, page } from '../page/globals.ts';
import { newUuid } from '../page/new-uuid.ts';
import { tabArea } from '../storage/areas.ts';

/**
 * Kept over reloads; another for each session. A tab that was copied finds the mark of the first, which that one takes
 * away when it leaves: it gets an id of its own.
 */
export function createWindowId({ persistence, persistence_name, token }: Options): (isNew: boolean) => string {
  const area = tabArea(persistence);
  const name = `ph_${persistence_name || token}_`;
  const [idName, mark] = [`${name}window_id`, `${name}primary_window_exists`];
  let id = area.read(mark) ? undefined : attempt<unknown>(() => JSON.parse(area.read(idName) ?? 'null'));
  area.write(mark, 'true');
  page?.addEventListener('pagehide', () => area.remove(mark));
  page?.addEventListener('pageshow', () => area.write(mark, 'true'));
  return (isNew) => {
    if (isNew || typeof id !== 'string') {
      id = newUuid();
      area.write(idName, JSON.stringify(id));
    }
    return id as string;
  };
}
