import { useSyncExternalStore } from 'react';

/** Unsaved edits of one kind of record, by project and by the ID of the record. */
interface DraftStore<Draft> {
  /** Returns the drafts of a project. */
  use(projectId: number): ReadonlyMap<string, Draft>;
  /** Stores a draft. Discards it if `draft` is null. */
  keep(projectId: number, id: string, draft: Draft | null): void;
}

/**
 * Creates a store for drafts, which are kept while the user visits other pages. The browser warns before a tab with
 * drafts is closed or reloaded.
 * @param shouldWarn whether to warn about a draft, by the ID of its record
 */
export function createDrafts<Draft>(shouldWarn: (id: string) => boolean = () => true): DraftStore<Draft> {
  const none: ReadonlyMap<string, Draft> = new Map();
  const byProject = new Map<number, ReadonlyMap<string, Draft>>();
  const watchers = new Set<() => void>();
  const warn = (event: BeforeUnloadEvent) => event.preventDefault();
  return {
    use: (projectId) =>
      useSyncExternalStore(
        (watcher) => {
          watchers.add(watcher);
          return () => watchers.delete(watcher);
        },
        () => byProject.get(projectId) ?? none,
      ),
    keep(projectId, id, draft) {
      const before = byProject.get(projectId) ?? none;
      if (draft === null && !before.has(id)) return;
      const next = new Map(before);
      if (draft === null) next.delete(id);
      else next.set(id, draft);
      byProject.set(projectId, next);
      const hasAny = [...byProject.values()].some((drafts) => [...drafts.keys()].some(shouldWarn));
      if (hasAny) addEventListener('beforeunload', warn);
      else removeEventListener('beforeunload', warn);
      for (const watcher of watchers) watcher();
    },
  };
}
