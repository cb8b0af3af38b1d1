import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ApiCall, call, cursorOf } from '../../api/request.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { part, useAddress } from '../../parts/address.ts';
import { Button } from '../../parts/button.tsx';
import { AddressHint, type Chip, Chips } from '../../parts/chips.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { More } from '../../parts/more.tsx';
import { isTime, SpanMenu, zoneOf, zones } from '../../parts/span.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import { type Activity, Entry } from './entry.tsx';
import { text } from './words.ts';
import './activity.css';

interface ActivityPage {
  results: Activity[];
  next: string | null;
}

const time = (absent: string) => ({ read: (given: string) => (isTime(given) ? given : undefined), absent });
const uuid = {
  read: (given: string) => (/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(given) ? given : undefined),
  absent: '',
};
const parts = {
  after: time('-30d'),
  before: time(''),
  zone: part.oneOf(zones, 'project'),
  user: uuid,
  scope: part.oneOf(['', ...Object.keys(text.kinds)], ''),
  item: part.text(),
};

/** Who changed what in the organization, and when. */
export function Page() {
  const { view, change, unknown } = useAddress(parts);
  const { organization, timezone } = useProject();
  const { after, before, user, scope, item } = view;
  const request: ApiCall = {
    path: `/api/organizations/${organization}/activity`,
    query: { after, before, user, scope, item_id: item, limit: 50 },
  };
  const query = useInfiniteQuery({
    queryKey: ['activity', organization, request.query],
    queryFn: ({ pageParam, signal }) =>
      call<ActivityPage>({ ...request, query: { ...request.query, cursor: pageParam } }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => cursorOf(next),
  });
  const recordChip: Chip = {
    ...{ key: 'item', name: text.record, value: item },
    remove: () => change({ item: '' }),
  };
  const entries = query.data?.pages.flatMap(({ results }) => results) ?? [];
  return (
    <>
      <PageTitle title={words.pages.activity.title}>
        <AsApiCallButton request={request} />
      </PageTitle>
      <AddressHint unknown={unknown} />
      <Chips chips={item === '' ? [] : [recordChip]}>
        <Who user={user} onUser={(chosen) => change({ user: chosen })} />
        <Kind scope={scope} onScope={(chosen) => change({ scope: chosen, item: '' })} />
        <SpanMenu
          span={{ after, before }}
          zone={view.zone}
          zoneOfProject={timezone}
          presets={Object.keys(words.span.presets)}
          onSpan={change}
          onZone={(zone) => change({ zone })}
        />
      </Chips>
      <div className="panel activity">
        <Loaded query={query} what={text.what}>
          {() =>
            entries.length === 0 ? (
              <Nothing
                isNarrowed={`${user}${scope}${item}` !== ''}
                onAll={() => change({ user: '', scope: '', item: '' })}
              />
            ) : (
              <>
                <ol className="activity-list" aria-label={text.list}>
                  {entries.map((entry) => (
                    <Entry
                      key={`${entry.created_at} ${entry.scope} ${entry.item_id} ${entry.activity}`}
                      entry={entry}
                      zone={zoneOf(view.zone, timezone)}
                      onOnly={item === '' ? () => change({ scope: entry.scope, item: entry.item_id }) : undefined}
                    />
                  ))}
                </ol>
                <More query={query} label={text.more} />
              </>
            )
          }
        </Loaded>
      </div>
    </>
  );
}

interface Member {
  user: { uuid: string; first_name: string; email: string };
}

/** The first hundred members by name; whoever else is in the address stands there as a uuid. */
function Who({ user, onUser }: { user: string; onUser: (uuid: string) => void }) {
  const { organization } = useProject();
  const { data } = useQuery({
    queryKey: ['organization', organization, 'names'],
    queryFn: ({ signal }) =>
      call<{ results: Member[] }>(
        { path: `/api/organizations/${organization}/members`, query: { limit: 100 } },
        signal,
      ),
    staleTime: 60_000,
  });
  const people = data?.results.map((one) => one.user) ?? [];
  return (
    <select
      className="input activity-choice"
      aria-label={text.who}
      value={user}
      onChange={({ target }) => onUser(target.value)}
    >
      <option value="">{text.anybody}</option>
      {people.map(({ uuid: id, first_name: name, email }) => (
        <option key={id} value={id}>
          {name === '' ? email : `${name} (${email})`}
        </option>
      ))}
      {user !== '' && !people.some(({ uuid: id }) => id === user) && <option value={user}>{user}</option>}
    </select>
  );
}

function Kind({ scope, onScope }: { scope: string; onScope: (scope: string) => void }) {
  return (
    <select
      className="input activity-choice"
      aria-label={text.kind}
      value={scope}
      onChange={({ target }) => onScope(target.value)}
    >
      <option value="">{text.anything}</option>
      {Object.entries(text.kinds).map(([kind, name]) => (
        <option key={kind} value={kind}>
          {name}
        </option>
      ))}
    </select>
  );
}

function Nothing({ isNarrowed, onAll }: { isNarrowed: boolean; onAll: () => void }) {
  return (
    <Empty title={isNarrowed ? text.noMatchTitle : text.emptyTitle} icon="activity">
      <p className="quiet">{isNarrowed ? text.noMatch : text.empty}</p>
      {isNarrowed && (
        <div className="form-buttons">
          <Button onPress={onAll}>{text.clearFilters}</Button>
        </div>
      )}
    </Empty>
  );
}
