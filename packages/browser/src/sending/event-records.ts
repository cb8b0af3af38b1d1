import type { Core } from '../client/core.ts';
import { attempt } from '../page/globals.ts';
import { newUuid } from '../page/new-uuid.ts';

/**
 * Events in the site's storage, one record each. Every page writes under names of its own, and holds a lock of that name
 * while it has any: who gets the lock, since the page left or crashed, may adopt them.
 */
export interface EventRecords {
  /** Gives the record's name; empty where storage is blocked or full: the event then lives as long as the page. */
  keep(text: string): string;
  remove(name: string): void;
  /** False: another page may have adopted it. */
  isOwn(name: string): boolean;
  /** That nobody adopts what is there; again and again while there is something. */
  hold(isNeeded: boolean): void;
  /** From now on all is for whoever comes first. */
  leave(): void;
  /**
   * Takes over what pages left that are gone.
   * @param take keeps texts, oldest first, under names of this page.
   * @param done afterwards, when there is room in storage again.
   */
  adopt(take: (texts: string[]) => void, done: () => void): void;
}

/** Until what one tab has written is seen by the others. */
const settleMs = 300;
/** Without locks (no https, an old browser) nobody knows who lives, but pages send what they have sooner. */
const orphanMs = 60_000;

export function createEventRecords({ token, store: { area } }: Pick<Core, 'token' | 'store'>): EventRecords {
  const prefix = `ph_${token}_queue_`;
  // Not by `Math.random`, which games make begin anew in each tab.
  const newPage = () => `${prefix}${newUuid()}_`;
  // Asked for when there is something to lock: the first time, it takes milliseconds.
  const locks = (): LockManager | undefined => navigator.locks;
  let page = newPage();
  let last = 0;
  let release: (() => void) | undefined;

  const put = (name: string, text: string) => {
    if (!area) return '';
    area.setItem(name, text);
    return name;
  };
  const isOwn = (name: string) => name === '' || name.startsWith(page);
  const remove = (name: string) => void attempt(() => area?.removeItem(name));
  const isLeft = (name: string) =>
    name.startsWith(prefix) &&
    !isOwn(name) &&
    (locks() || Math.abs(Date.now() - Number(name.split('_').pop())) > orphanMs);
  const hold = (isNeeded: boolean) => {
    if (isNeeded === !!release) return;
    release?.();
    release = undefined;
    if (!isNeeded) return;
    const end = new Promise<void>((resolve) => {
      release = resolve;
    });
    locks()
      ?.request(page, () => end)
      .catch(() => {});
  };
  return {
    keep(text) {
      // Names tell the time, and sort as they were made.
      last = Math.max(last + 1, Date.now());
      const name = page + last;
      return attempt(() => put(name, text)) ?? '';
    },
    remove,
    isOwn,
    hold,
    leave() {
      hold(false);
      page = newPage();
    },
    adopt(take, done) {
      const left =
        attempt(() =>
          Object.keys(area ?? {})
            .filter(isLeft)
            .sort(),
        ) ?? [];
      for (const of of new Set(left.map((name) => name.slice(0, name.lastIndexOf('_') + 1)))) {
        const names = left.filter((name) => name.startsWith(of));
        const run = () => {
          take(names.map((name) => attempt(() => area?.getItem(name)) ?? '').filter(Boolean));
          names.forEach(remove);
          done();
          return new Promise((resolve) => setTimeout(resolve, settleMs));
        };
        const all = locks();
        if (all) all.request(of, { ifAvailable: true }, (lock) => lock && run()).catch(() => {});
        else run();
      }
    },
  };
}
