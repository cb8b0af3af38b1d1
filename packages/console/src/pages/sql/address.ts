// The URL parameters of the SQL page, and the query that the user edits.

import { useEffect, useState } from 'react';
import { useProject } from '../../frame/project.ts';
import { part, useUrlState } from '../../parts/address.ts';
import { useDebounced } from '../../parts/debounced.ts';
import { createDrafts } from '../../parts/drafts.ts';
import { createSqlNode, readSqlNode, type SqlNode } from '../../sql/node.ts';
import type { Insight } from '../insights/view.ts';

const parts = {
  /** Short ID of the open insight. Empty for a new query. */
  insight: part.text(),
  /** JSON of the edited query. Empty to use the saved query. */
  query: part.text(),
};

export const useSqlUrlState = () => useUrlState(parts);
export type SqlUrlState = ReturnType<typeof useSqlUrlState>;

/**
 * JSON of unsaved queries, by the insight's short ID or `new`. The browser does not warn before a new query is lost,
 * because most new queries are never meant to be saved.
 */
const drafts = createDrafts<string>((id) => id !== 'new');

export const forgetDraft = (projectId: number, id: string) => drafts.keep(projectId, id, null);

/**
 * Maximum length of a query in the URL, because proxies may reject long URLs. A longer query is stored only as a draft.
 */
const longestInAddress = 3000;

export interface Edits {
  node: SqlNode;
  /** Incremented each time the query changes outside the editor. */
  version: number;
  isChanged: boolean;
  isBadAddress: boolean;
  /** Changes the query. @param isTyped true if the user typed the change in the editor */
  edit: (next: SqlNode, options?: { isTyped: boolean }) => void;
  discard: () => void;
}

/** Returns the query to edit: the query in the URL, or else the unsaved draft, or else the saved query. */
export function useQueryEdits(stored: Insight | null, { view, change }: SqlUrlState): Edits {
  const { id } = useProject();
  const name = stored?.short_id ?? 'new';
  const kept = (stored && readSqlNode(stored.query)) ?? createSqlNode('');
  const draft = drafts.use(id).get(name);
  const written = readNode(view.query);
  const [state, setState] = useState(() => ({ node: written ?? readNode(draft ?? '') ?? kept, version: 0 }));
  const json = JSON.stringify(state.node);
  const isChanged = json !== JSON.stringify(kept);
  const rested = useDebounced(json);
  const inAddress = isChanged && rested.length <= longestInAddress ? rested : '';
  // Without `replace`, each keystroke would add a browser history entry.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `change` is a new function on every render
  useEffect(() => {
    if (rested === json && view.query !== inAddress) change({ query: inAddress }, { replace: true });
  }, [rested, json, inAddress, view.query]);
  return {
    ...state,
    isChanged,
    isBadAddress: view.query !== '' && written === null,
    edit(node, { isTyped } = { isTyped: false }) {
      const next = JSON.stringify(node);
      drafts.keep(id, name, next === JSON.stringify(kept) ? null : next);
      setState(({ version }) => ({ node, version: isTyped ? version : version + 1 }));
    },
    discard() {
      drafts.keep(id, name, null);
      setState(({ version }) => ({ node: kept, version: version + 1 }));
    },
  };
}

function readNode(json: string): SqlNode | null {
  try {
    return readSqlNode(JSON.parse(json));
  } catch {
    return null;
  }
}
