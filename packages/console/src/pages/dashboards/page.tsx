// The Dashboards page, where users find and view dashboards.

import { NoticeLine } from '../../parts/notice.tsx';
import { useUndo } from '../../records/undo.ts';
import { readDashboardView, toDashboardParameters, useDashboardsUrlState } from './address.ts';
import { DashboardList } from './list.tsx';
import { OpenDashboard } from './open-dashboard.tsx';
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
    <OpenDashboard
      key={view.dashboard}
      id={view.dashboard}
      view={readDashboardView(view)}
      isEditing={view.edit}
      onView={(next) => change(toDashboardParameters(next), { replace: true })}
      onEditing={(edit) => change({ edit }, { replace: true })}
      onList={() => change({ dashboard: '', time: '', filters: '', variables: '', edit: false })}
      onOpen={open}
      onRemoved={offerUndo}
      unknown={unknown}
    />
  );
}
