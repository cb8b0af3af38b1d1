import type { Emitter } from '../client/core.ts';
import { page } from '../page/globals.ts';
import type { WholeStore } from '../storage/create-store.ts';

/** Who the visitor is, is the same in all tabs. What depends on it hears here that another tab has changed it. */
export function followOtherTabs({ name, get }: WholeStore, signals: Emitter): void {
  let known = get('distinct_id');
  const learn = () => {
    const former = known;
    known = get('distinct_id');
    return known !== former;
  };
  signals.on('identity', learn);
  signals.on('reset', learn);
  page?.addEventListener('storage', ({ key }) => {
    if (key === name && learn()) signals.emit('otherTab', undefined);
  });
}
