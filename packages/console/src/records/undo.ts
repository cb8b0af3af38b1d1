// Shows a confirmation above a list after records were changed, and undoes the change when the user presses "Undo".

import { useState } from 'react';
import type { ApiCall } from '../api/request.ts';
import type { Notice } from '../parts/notice.tsx';
import { explain } from '../parts/states.tsx';
import { useChanges } from './change.ts';

/** Shows a confirmation of a change, and offers to undo it. @param requests the requests that undo it */
export type OfferUndo = (text: string, requests: readonly ApiCall[]) => void;

/** Returns the confirmation to show above a list or a record. It also says if undoing has failed. */
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
