import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { call } from '../../api/request.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { useUrlState } from '../../parts/address.ts';
import { NoticeLine } from '../../parts/notice.tsx';
import { EmptyState, QueryContent } from '../../parts/states.tsx';
import { useUndo } from '../../records/undo.ts';
import { words } from '../../words.ts';
import { boardParts, readDashboardView, toDashboardParameters } from '../dashboards/address.ts';
import { OpenDashboard } from '../dashboards/open-dashboard.tsx';
import type { Dashboard } from '../dashboards/shapes.ts';
import { text as dashboards } from '../dashboards/words.ts';
import type { Environment } from '../settings/environment.ts';
import { Checklist } from './checklist.tsx';
import { OnlineCount } from './online.tsx';
import { text } from './words.ts';

/** Shows the primary or, by default, the most recently opened dashboard in a project without web traffic. */
export function FavoriteDashboard() {
  const { id, primary_dashboard: primary } = useProject() as Environment;
  const { view, change, unknown } = useUrlState(boardParts);
  const { notice, offerUndo, clear } = useUndo();
  const navigate = useNavigate();
  const query = useQuery({
    queryKey: ['dashboards', id, 'of-home'],
    queryFn: async ({ signal }) => {
      const request = { path: `/api/projects/${id}/dashboards`, query: { limit: 100, order: '-last_accessed_at' } };
      const { results } = await call<{ results: Dashboard[] }>(request, signal);
      return (results.find((one) => one.id === primary) ?? results[0])?.id ?? null;
    },
  });
  const toDashboards = (dashboard?: number) =>
    void navigate({
      to: `/projects/${id}/dashboards`,
      search: (dashboard === undefined ? {} : { dashboard: String(dashboard) }) as never,
    });
  return (
    <QueryContent query={query} what={dashboards.what}>
      {(shown) => (
        <>
          {shown === null ? (
            <NoDashboard />
          ) : (
            <OpenDashboard
              id={String(shown)}
              view={readDashboardView(view)}
              isEditing={view.edit}
              onView={(next) => change(toDashboardParameters(next), { replace: true })}
              onEditing={(edit) => change({ edit }, { replace: true })}
              onList={() => toDashboards()}
              onOpen={toDashboards}
              onRemoved={offerUndo}
              unknown={unknown}
              now={<OnlineCount />}
            />
          )}
          <NoticeLine notice={notice} onDone={clear} />
          <Checklist />
        </>
      )}
    </QueryContent>
  );
}

function NoDashboard() {
  const { id } = useProject();
  return (
    <>
      <PageTitle title={words.pages.home.title} now={<OnlineCount />} />
      <div className="panel">
        <EmptyState title={text.noDashboard} icon="dashboards">
          <p className="quiet">{text.noDashboardText}</p>
          <Link className="button button-main" to={`/projects/${id}/dashboards`}>
            {text.toDashboards}
          </Link>
        </EmptyState>
      </div>
    </>
  );
}
