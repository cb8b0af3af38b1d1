import { useQuery } from '@tanstack/react-query';
import { nameOfInsight, sourceOf } from '../../answers/question.ts';
import { useOffsetPages } from '../../api/offset-pages.ts';
import { type ApiCall, call } from '../../api/request.ts';
import { visible } from '../../event-detail/json-text.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { formatAgo } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { AddressHint, Chips } from '../../parts/chips.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { More } from '../../parts/more.tsx';
import { Search } from '../../parts/search.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import { Builder } from './builder.tsx';
import { isKind } from './question.ts';
import { type Insight, type InsightsAddress, useInsightsAddress } from './view.ts';
import { text } from './words.ts';
import './insights.css';

/** How many, who goes on, who comes back: questions that are kept, and the making of one. */
export function Page() {
  const address = useInsightsAddress();
  const { insight } = address.view;
  if (insight === '') return <List address={address} />;
  return insight === 'new' ? (
    <Builder key="new" stored={null} address={address} />
  ) : (
    <Stored key={insight} name={insight} address={address} />
  );
}

function Stored({ name, address }: { name: string; address: InsightsAddress }) {
  const { id } = useProject();
  const query = useQuery({
    queryKey: ['insights', id, 'one', name],
    queryFn: ({ signal }) =>
      call<Insight>({ path: `/api/projects/${id}/insights/${encodeURIComponent(name)}` }, signal),
  });
  if (query.data) return <Builder stored={query.data} address={address} />;
  return (
    <>
      <PageTitle title={words.pages.insights.title} />
      <Loaded query={query} what={text.one}>
        {() => null}
      </Loaded>
    </>
  );
}

function List({ address: { view, change, unknown } }: { address: InsightsAddress }) {
  const { id } = useProject();
  const request: ApiCall = {
    path: `/api/projects/${id}/insights`,
    query: { basic: true, search: view.search, order: '-last_modified_at' },
  };
  const query = useOffsetPages<Insight>(['insights', id, 'list'], request);
  const make = () => change({ insight: 'new', search: '' });
  return (
    <>
      <PageTitle
        title={words.pages.insights.title}
        now={query.data && <span className="pill">{text.count(query.data.count)}</span>}
      >
        <AsApiCallButton request={request} />
        <Button look="main" onPress={make}>
          {text.make}
        </Button>
      </PageTitle>
      <AddressHint unknown={unknown} />
      <Chips
        chips={[]}
        search={
          <Search
            value={view.search}
            label={text.search}
            onSearch={(search) => change({ search }, { replace: true })}
          />
        }
      />
      <div className="panel">
        <Loaded query={query} what={text.what}>
          {({ rows }) =>
            rows.length === 0 ? (
              <Nothing isNarrowed={view.search !== ''} onMake={make} onAll={() => change({ search: '' })} />
            ) : (
              <div className="list-rows">
                <Rows insights={rows} onOpen={(insight) => change({ insight, search: '' })} />
                <More query={query} label={text.more} />
              </div>
            )
          }
        </Loaded>
      </div>
    </>
  );
}

function Nothing({ isNarrowed, onMake, onAll }: { isNarrowed: boolean; onMake: () => void; onAll: () => void }) {
  return (
    <Empty title={isNarrowed ? text.noneFound : text.none} icon="insights">
      {!isNarrowed && <p className="quiet">{text.noneText}</p>}
      <div className="form-buttons">
        {isNarrowed ? (
          <Button onPress={onAll}>{text.all}</Button>
        ) : (
          <Button look="main" onPress={onMake}>
            {text.make}
          </Button>
        )}
      </div>
    </Empty>
  );
}

function Rows({ insights, onOpen }: { insights: readonly Insight[]; onOpen: (shortId: string) => void }) {
  return (
    <table className="table" aria-label={text.list}>
      <thead>
        <tr>
          <th>{text.columns.name}</th>
          <th>{text.columns.kind}</th>
          <th className="list-wide">{text.columns.by}</th>
          <th className="list-wide">{text.columns.at}</th>
        </tr>
      </thead>
      <tbody>
        {insights.map(({ short_id: shortId, query, last_modified_by: by, last_modified_at: at, ...insight }) => (
          <tr key={shortId} className="list-row">
            <td>
              <button type="button" className="link-button row-link" onClick={() => onOpen(shortId)}>
                {nameOfInsight(insight)}
              </button>
            </td>
            <td>{kindOf(query)}</td>
            <td className="list-wide">{by === null ? '' : visible(by.first_name || by.email)}</td>
            <td className="list-wide quiet">{formatAgo(at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function kindOf(query: unknown): string {
  const kind = sourceOf(query)?.kind ?? '';
  return isKind(kind) ? text.kinds[kind] : text.otherKind;
}
