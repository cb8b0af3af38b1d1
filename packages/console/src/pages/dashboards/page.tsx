import { useState } from 'react';
import { useOffsetPages } from '../../api/offset-pages.ts';
import type { ApiCall } from '../../api/request.ts';
import { visible } from '../../event-detail/json-text.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { part, useAddress } from '../../parts/address.ts';
import { formatAgo } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { AddressHint, Chips } from '../../parts/chips.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { More } from '../../parts/more.tsx';
import { Search } from '../../parts/search.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import type { Environment } from '../settings/environment.ts';
import { Board } from './board.tsx';
import { MakeDialog } from './dialogs.tsx';
import type { Dashboard } from './shapes.ts';
import { text } from './words.ts';
import './dashboards.css';

const parts = {
  /** Number of the one that is open. */
  dashboard: part.text(),
  search: part.text(),
  /** In place of the time each insight has. */
  time: part.oneOf(Object.keys(text.times), ''),
  /** JSON of the conditions in place of those that are stored. */
  filters: part.text(),
};

/** Insights beside each other. */
export function Page() {
  const { view, change, unknown } = useAddress(parts);
  if (view.dashboard !== '') {
    return (
      <Board
        key={view.dashboard}
        id={view.dashboard}
        time={view.time}
        filters={readList(view.filters)}
        onView={({ time, filters }) =>
          change({ time, filters: filters === null ? '' : JSON.stringify(filters) }, { replace: true })
        }
        onList={() => change({ dashboard: '', time: '', filters: '' })}
        unknown={unknown}
      />
    );
  }
  return <List search={view.search} change={change} unknown={unknown} />;
}

/** @returns null for what is no list. */
function readList(json: string): unknown[] | null {
  try {
    const list: unknown = JSON.parse(json);
    return Array.isArray(list) ? list : null;
  } catch {
    return null;
  }
}

function List({
  search,
  change,
  unknown,
}: {
  search: string;
  change: ReturnType<typeof useAddress<typeof parts>>['change'];
  unknown: readonly string[];
}) {
  const { id } = useProject();
  const [isMaking, setMaking] = useState(false);
  const request: ApiCall = { path: `/api/projects/${id}/dashboards`, query: { search } };
  const query = useOffsetPages<Dashboard>(['dashboards', id, 'list'], request);
  return (
    <>
      <PageTitle
        title={words.pages.dashboards.title}
        now={query.data && <span className="pill">{text.count(query.data.count)}</span>}
      >
        <AsApiCallButton request={request} />
        <Button look="main" onPress={() => setMaking(true)}>
          {text.make}
        </Button>
      </PageTitle>
      <AddressHint unknown={unknown} />
      <Chips
        chips={[]}
        search={
          <Search value={search} label={text.search} onSearch={(next) => change({ search: next }, { replace: true })} />
        }
      />
      <div className="panel">
        <Loaded query={query} what={text.what}>
          {({ rows }) =>
            rows.length === 0 ? (
              <Empty title={search === '' ? text.none : text.noneFound} icon="dashboards">
                {search === '' ? (
                  <p className="quiet">{text.noneText}</p>
                ) : (
                  <Button onPress={() => change({ search: '' })}>{text.all}</Button>
                )}
              </Empty>
            ) : (
              <div className="list-rows">
                <Rows dashboards={rows} onOpen={(number) => change({ dashboard: String(number), search: '' })} />
                <More query={query} label={text.more} />
              </div>
            )
          }
        </Loaded>
      </div>
      {isMaking && (
        <MakeDialog
          onMade={(number) => change({ dashboard: String(number), search: '' })}
          onClose={() => setMaking(false)}
        />
      )}
    </>
  );
}

function Rows({ dashboards, onOpen }: { dashboards: readonly Dashboard[]; onOpen: (id: number) => void }) {
  const { primary_dashboard: primary } = useProject() as Environment;
  return (
    <table className="table" aria-label={text.list}>
      <thead>
        <tr>
          <th>{text.columns.name}</th>
          <th className="list-wide">{text.columns.description}</th>
          <th className="list-wide">{text.columns.by}</th>
          <th>{text.columns.seen}</th>
        </tr>
      </thead>
      <tbody>
        {dashboards.map(({ id, name, description, created_by: by, last_accessed_at: seen }) => (
          <tr key={id} className="list-row">
            <td>
              <button type="button" className="link-button row-link" onClick={() => onOpen(id)}>
                {visible(name || text.unnamed)}
              </button>{' '}
              {id === primary && <span className="pill">{text.primary}</span>}
            </td>
            <td className="list-wide quiet">{visible(description.slice(0, 100))}</td>
            <td className="list-wide">{by === null ? '' : visible(by.first_name || by.email)}</td>
            <td className="quiet">{seen === null ? '–' : formatAgo(seen)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
