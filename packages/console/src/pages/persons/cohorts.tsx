import { Link } from '@tanstack/react-router';
import { useOffsetPages } from '../../api/offset-pages.ts';
import { visible } from '../../event-detail/json-text.ts';
import { useProject } from '../../frame/project.ts';
import { More } from '../../parts/more.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { text } from './words.ts';

/** The cohorts that a person belongs to now. */
export function PersonCohorts({ uuid }: { uuid: string }) {
  const { id } = useProject();
  const request = { path: `/api/projects/${id}/persons/cohorts`, query: { person_id: uuid } };
  const query = useOffsetPages<{ id: number; name: string | null }>(['cohorts', id, 'of person'], request);
  return (
    <Loaded query={query} what={text.cohorts}>
      {({ rows }) =>
        rows.length === 0 ? (
          <Empty title={text.noCohortsTitle} icon="cohorts">
            <p className="quiet">{text.noCohorts}</p>
          </Empty>
        ) : (
          <>
            <ul className="person-cohorts">
              {rows.map((cohort) => (
                <li key={cohort.id}>
                  <Link to={`/projects/${id}/cohorts`} search={{ cohort: String(cohort.id) } as never}>
                    {visible(cohort.name || String(cohort.id))}
                  </Link>
                </li>
              ))}
            </ul>
            <More query={query} />
          </>
        )
      }
    </Loaded>
  );
}
