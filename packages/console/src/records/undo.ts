// Shows a confirmation above a list after records have changed, and can undo the change.

import { useState } from 'react';
import type { ApiCall } from '../api/request.ts';
import type { Notice } from '../parts/notice.tsx';
import { explainError } from '../parts/states.tsx';
import { useRecordChanges } from './change.ts';

/** Shows a confirmation of a change, with a button for undoing it. @param requests the requests that undo the change */
export type OfferUndo = (text: string, requests: readonly ApiCall[]) => void;

/** Returns the confirmation to show, and a function that offers to undo a change. The notice reports a failed undo. */
export function useUndo(): { notice: Notice | null; offerUndo: OfferUndo; clear: () => void } {
  const [notice, setNotice] = useState<Notice | null>(null);
  const restore = useRecordChanges();
  return {
    notice: restore.error ? { text: explainError(restore.error), isBad: true } : notice,
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
