// Confirms changes of records above their list, and undoes them when the user presses "Undo".

import { useState } from 'react';
import type { ApiCall } from '../api/request.ts';
import type { Notice } from '../parts/notice.tsx';
import { explain } from '../parts/states.tsx';
import { useChanges } from './change.ts';

/** Confirms a change of insights, dashboards or flags, and offers the requests that undo it. */
export type OfferUndo = (text: string, requests: readonly ApiCall[]) => void;

/** The confirmation above a list or a record. It also reports when undoing failed. */
export function useUndo(): { notice: Notice | null; offerUndo: OfferUndo; clear: () => void } {
  const [notice, setNotice] = useState<Notice | null>(null);
  const restore = useChanges();
  return {
    notice: restore.error ? { text: explain(restore.error), isBad: true } : notice,
    offerUndo(text, requests) {
      restore.reset();
      setNotice({ text, undo: () => restore.mutate(requests) });
    },
    clear() {
      restore.reset();
      setNotice(null);
    },
  };
}
