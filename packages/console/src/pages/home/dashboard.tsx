import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { call } from '../../api/request.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { part, useAddress } from '../../parts/address.ts';
import { Empty, Loaded } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import { Board } from '../dashboards/board.tsx';
import { readList } from '../dashboards/page.tsx';
import type { Dashboard } from '../dashboards/shapes.ts';
import { text as dashboards } from '../dashboards/words.ts';
import type { Environment } from '../settings/environment.ts';
import { Checklist } from './checklist.tsx';
import { Online } from './online.tsx';
import { text } from './words.ts';

const parts = {
  time: part.oneOf(Object.keys(dashboards.times), ''),
  /** JSON of the conditions in place of those that are stored. */
  filters: part.text(),
};

/** Without web traffic: the project's primary dashboard, or else the one that was opened last. */
export function FavoriteDashboard() {
  const { id, primary_dashboard: primary } = useProject() as Environment;
  const { view, change, unknown } = useAddress(parts);
  const navigate = useNavigate();
  const request = { path: `/api/projects/${id}/dashboards`, query: { limit: 100 } };
  const query = useQuery({
    queryKey: ['dashboards', id, 'of-home'],
    queryFn: ({ signal }) => call<{ results: Dashboard[] }>(request, signal),
  });
  return (
    <Loaded query={query} what={dashboards.what}>
      {({ results }) => {
        const [latest] = [...results].sort((a, b) => seenAt(b) - seenAt(a));
        const shown = results.find((one) => one.id === primary) ?? latest;
        return (
          <>
            {shown === undefined ? (
              <NoDashboard />
            ) : (
              <Board
                id={String(shown.id)}
                time={view.time}
                filters={readList(view.filters)}
                onView={({ time, filters }) =>
                  change({ time, filters: filters === null ? '' : JSON.stringify(filters) }, { replace: true })
                }
                onList={() => void navigate({ to: `/projects/${id}/dashboards` })}
                unknown={unknown}
                now={<Online />}
              />
            )}
            <Checklist />
          </>
        );
      }}
    </Loaded>
  );
}

const seenAt = ({ last_accessed_at: seen }: Dashboard) => (seen === null ? 0 : Date.parse(seen));

function NoDashboard() {
  const { id } = useProject();
  return (
    <>
      <PageTitle title={words.pages.home.title} now={<Online />} />
      <div className="panel">
        <Empty title={text.noDashboard} icon="dashboards">
          <p className="quiet">{text.noDashboardText}</p>
          <Link className="button button-main" to={`/projects/${id}/dashboards`}>
            {text.toDashboards}
          </Link>
        </Empty>
      </div>
    </>
  );
}
