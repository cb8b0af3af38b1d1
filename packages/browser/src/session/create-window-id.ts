import type { Options } from '../client/client.ts';
import { attempt, page } from '../page/globals.ts';
import { newUuid } from '../page/new-uuid.ts';
import { memoryArea, storageArea, webStorage } from '../storage/areas.ts';

export interface WindowId {
  /** Kept over reloads; another for each session. */
  id(isNew: boolean): string;
}

/** A tab that was copied finds the mark of the first, which that one takes away when it leaves: it gets an id of its own. */
export function createWindowId({ persistence, persistence_name, token }: Options): WindowId {
  const session = persistence === 'memory' ? undefined : webStorage('sessionStorage');
  const area = session ? storageArea(session) : memoryArea();
  const name = `ph_${persistence_name || token}`;
  const [idName, mark] = [`${name}_window_id`, `${name}_primary_window_exists`];
  const stored: unknown = attempt(() => JSON.parse(area.read(idName) ?? ''));
  let id = typeof stored === 'string' && area.read(mark) === null ? stored : '';
  area.write(mark, 'true');
  page?.addEventListener('pagehide', () => area.remove(mark));
  page?.addEventListener('pageshow', () => area.write(mark, 'true'));
  return {
    id(isNew) {
      if (isNew || !id) {
        id = newUuid();
        area.write(idName, JSON.stringify(id));
      }
      return id;
    },
  };
}
