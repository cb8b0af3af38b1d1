// Bulk actions on the insights, dashboards or flags that are selected in a list, and the star for marking favorites.

import { useState } from 'react';
import type { ApiCall } from '../api/request.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/form.tsx';
import { explainError } from '../parts/states.tsx';
import { words } from '../words.ts';
import { useRecordChanges } from './change.ts';
import type { OfferUndo } from './undo.ts';
import { text } from './words.ts';

interface ListedRecord {
  id: number;
  tags: string[];
}

/** Manages the selected rows of a list. A row that disappears from the list is no longer selected. */
export function useSelection<Row extends ListedRecord>(rows: readonly Row[]) {
  const [ids, setIds] = useState<ReadonlySet<number>>(new Set());
  return {
    rows: rows.filter(({ id }) => ids.has(id)),
    clear: () => setIds(new Set()),
    toggle(id: number) {
      const next = new Set(ids);
      if (!next.delete(id)) next.add(id);
      setIds(next);
    },
    has: (id: number) => ids.has(id),
  };
}

interface BulkAction<Row> {
  name: string;
  body: object;
  done: (count: number) => string;
  undo: (row: Row) => object;
}

/** A bar for changing, tagging or deleting all selected records. Users can undo each action. */
export function BulkBar<Row extends ListedRecord>({
  rows,
  path,
  actions = [],
  restore,
  offerUndo,
  onDone,
}: {
  rows: readonly Row[];
  path: (row: Row) => string;
  actions?: readonly BulkAction<Row>[];
  /** Returns the request body that restores a deleted record. */
  restore: (row: Row) => object;
  offerUndo: OfferUndo;
  onDone: () => void;
}) {
  const [isTagging, setTagging] = useState(false);
  const change = useRecordChanges();
  const requests = (body: (row: Row) => object) =>
    rows.map((row): ApiCall => ({ method: 'PATCH', path: path(row), body: body(row) }));
  const run = (body: (row: Row) => object, confirmation: string, back: (row: Row) => object) => {
    const undo = requests(back);
    // Do not pass callbacks to `mutate`: the bar unmounts when the last row disappears, and React Query does not call
    // the callbacks of unmounted components.
    change.mutateAsync(requests(body)).then(
      () => {
        offerUndo(confirmation, undo);
        onDone();
      },
      () => {},
    );
  };
  if (rows.length === 0) return null;
  return (
    <section className="notice" aria-label={text.bulk}>
      <span className="grow" role="status">
        {text.chosen(rows.length)}
      </span>
      {change.error && (
        <span className="bad" role="alert">
          {explainError(change.error)}
        </span>
      )}
      {actions.map(({ name, body, done, undo }) => (
        <Button key={name} isDisabled={change.isPending} onPress={() => run(() => body, done(rows.length), undo)}>
          {name}
        </Button>
      ))}
      <Button isDisabled={change.isPending} onPress={() => setTagging(true)}>
        {text.tag}
      </Button>
      <Button
        isDisabled={change.isPending}
        onPress={() => run(() => ({ deleted: true }), text.deleted(rows.length), restore)}
      >
        {text.remove}
      </Button>
      <Button look="plain" onPress={onDone}>
        {text.clear}
      </Button>
      {isTagging && (
        <TagDialog
          count={rows.length}
          onTag={(tag) => {
            setTagging(false);
            run(
              ({ tags }) => ({ tags: [...new Set([...tags, tag])] }),
              text.tagged(rows.length, tag),
              ({ tags }) => ({ tags }),
            );
          }}
          onClose={() => setTagging(false)}
        />
      )}
    </section>
  );
}

function TagDialog({ count, onTag, onClose }: { count: number; onTag: (tag: string) => void; onClose: () => void }) {
  const [tag, setTag] = useState('');
  return (
    <Dialog title={text.tagTitle(count)} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          onTag(tag.trim());
        }}
      >
        <Field
          name="tag"
          label={text.tagName}
          maxLength={100}
          value={tag}
          onChange={({ target }) => setTag(target.value)}
        />
        <div className="form-buttons">
          <Button type="submit" look="main" isDisabled={tag.trim() === ''}>
            {text.tag}
          </Button>
          <Button onPress={onClose}>{words.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Marks a record as a favorite for all users of the project. */
export function FavoriteStar({ name, isOn, onToggle }: { name: string; isOn: boolean; onToggle: () => void }) {
  return (
    <button
      type="button"
      className="star"
      aria-pressed={isOn}
      aria-label={text.favorite(name)}
      title={isOn ? text.favoriteOff : text.favoriteOn}
      onClick={onToggle}
    >
      <span aria-hidden="true">{isOn ? '★' : '☆'}</span>
    </button>
  );
}

export function FavoritesButton({ isOn, onToggle }: { isOn: boolean; onToggle: (isOn: boolean) => void }) {
  return (
    <Button aria-pressed={isOn} onPress={() => onToggle(!isOn)}>
      <span aria-hidden="true">{isOn ? '★' : '☆'}</span> {text.favorites}
    </Button>
  );
}
