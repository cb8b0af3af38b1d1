// The Dashboards page, where users find and view dashboards.

import { NoticeLine } from '../../parts/notice.tsx';
import { useUndo } from '../../records/undo.ts';
import { readBoardView, toBoardParameters, useDashboardsUrlState } from './address.ts';
import { Board } from './board.tsx';
import { DashboardList } from './list.tsx';
import './dashboards.css';

export function Page() {
  const address = useDashboardsUrlState();
  const { view, change, unknown } = address;
  const { notice, offerUndo, clear } = useUndo();
  const open = (id: number) =>
    change({ dashboard: String(id), search: '', time: '', filters: '', variables: '', edit: false });
  if (view.dashboard === '') {
    return (
      <DashboardList {...{ address, offerUndo }} onOpen={open} notice={<NoticeLine notice={notice} onDone={clear} />} />
    );
  }
  return (
    <Board
      key={view.dashboard}
      id={view.dashboard}
      view={readBoardView(view)}
      isEditing={view.edit}
      onView={(next) => change(toBoardParameters(next), { replace: true })}
      onEditing={(edit) => change({ edit }, { replace: true })}
      onList={() => change({ dashboard: '', time: '', filters: '', variables: '', edit: false })}
      onOpen={open}
      onRemoved={offerUndo}
      unknown={unknown}
    />
  );
}
