import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/request.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { Loaded } from '../../parts/states.tsx';
import { formatClock } from '../../parts/time.ts';
import { words } from '../../words.ts';
import { FirstEvent } from './first-event.tsx';
import { text } from './words.ts';
import './live.css';

interface StoredEvent {
  uuid: string;
  event: string;
  distinct_id: string;
  timestamp: string;
}

/** The newest events, asked for every two seconds; before there is one, how to send it. */
export function Page() {
  const { id, timezone } = useProject();
  const newest = useQuery({
    queryKey: ['newest-events', id],
    queryFn: ({ signal }) =>
      call<{ results: StoredEvent[] }>({ path: `/api/projects/${id}/events`, query: { limit: 50 } }, signal),
    refetchInterval: 2000,
  });
  return (
    <>
      <PageTitle title={words.pages.live.title} />
      <Loaded query={newest} what={text.events}>
        {({ results }) =>
          results.length === 0 ? (
            <FirstEvent />
          ) : (
            <div className="panel live-list">
              <table className="table">
                <thead>
                  <tr>
                    <th scope="col">{text.time(timezone)}</th>
                    <th scope="col">{text.event}</th>
                    <th scope="col">{text.person}</th>
                  </tr>
                </thead>
                <tbody>
                  {results.map(({ uuid, event, distinct_id, timestamp }) => (
                    <tr key={uuid}>
                      <td className="mono">{formatClock(timestamp, timezone)}</td>
                      <td>
                        <strong className="cut">{event}</strong>
                      </td>
                      <td className="cut">{distinct_id}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </>
  );
}
