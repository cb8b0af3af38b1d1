import { NoticeLine } from '../../parts/notice.tsx';
import { useUndo } from '../../records/undo.ts';
import { useDashboardsAddress } from './address.ts';
import { Board } from './board.tsx';
import { List } from './list.tsx';
import './dashboards.css';

/** The list of dashboards, or one of them. */
export function Page() {
  const address = useDashboardsAddress();
  const { view, change, unknown } = address;
  const { notice, offerUndo, clear } = useUndo();
  const open = (id: number) => change({ dashboard: String(id), search: '', time: '', filters: '', edit: false });
  if (view.dashboard === '') {
    return <List {...{ address, offerUndo }} onOpen={open} notice={<NoticeLine notice={notice} onDone={clear} />} />;
  }
  return (
    <Board
      key={view.dashboard}
      id={view.dashboard}
      view={{ time: view.time, filters: readList(view.filters) }}
      isEditing={view.edit}
      onView={({ time = view.time, filters }) =>
        change(
          { time, ...(filters !== undefined && { filters: filters === null ? '' : JSON.stringify(filters) }) },
          { replace: true },
        )
      }
      onEditing={(edit) => change({ edit }, { replace: true })}
      onList={() => change({ dashboard: '', time: '', filters: '', edit: false })}
      onOpen={open}
      onRemoved={offerUndo}
      unknown={unknown}
    />
  );
}

/** @returns null if the JSON is not a list */
export function readList(json: string): unknown[] | null {
  try {
    const list: unknown = JSON.parse(json);
    return Array.isArray(list) ? list : null;
  } catch {
    return null;
  }
}
