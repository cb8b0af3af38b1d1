// The Activity page, where users see who changed what in the project or the organization.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { meQuery } from '../../api/queries.ts';
import { type ApiCall, call, readCursor } from '../../api/request.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { findDisplayNames, useProject } from '../../frame/project.ts';
import { part, useUrlState } from '../../parts/address.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { AddressHint, type Chip, FilterBar } from '../../parts/filter-bar.tsx';
import { LoadMoreButton } from '../../parts/more.tsx';
import { SelectFilter } from '../../parts/select-filter.tsx';
import { isValidTime, resolveZone, SpanMenu, zones } from '../../parts/span.tsx';
import { EmptyState, explainError, QueryContent } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import type { Activity } from './change.tsx';
import { ActivityEntry } from './entry.tsx';
import { text } from './words.ts';
import './activity.css';

interface ActivityPage {
  results: Activity[];
  next: string | null;
}

const time = (absent: string) => ({ read: (given: string) => (isValidTime(given) ? given : undefined), absent });
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
  project: part.oneOf(['own', 'all'], 'own'),
};

export function Page() {
  const { view, change, unknown } = useUrlState(parts);
  const { id, organization, timezone } = useProject();
  const { after, before, user, scope, item, project } = view;
  const { names, error } = useMemberNames(user);
  const placeOf = usePlaces();
  const request: ApiCall = {
    path: `/api/organizations/${organization}/activity`,
    query: { after, before, user, scope, item_id: item, team_id: project === 'own' ? id : undefined, limit: 50 },
  };
  const query = useInfiniteQuery({
    queryKey: ['activity', organization, request.query],
    queryFn: ({ pageParam, signal }) =>
      call<ActivityPage>({ ...request, query: { ...request.query, cursor: pageParam } }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => readCursor(next),
  });
  const recordChip: Chip = {
    key: 'item',
    name: text.record,
    value: item,
    remove: () => change({ item: '' }),
  };
  const entries = query.data?.pages.flatMap(({ results }) => results) ?? [];
  return (
    <>
      <PageTitle title={words.pages.activity.title}>
        <AsApiCallButton request={request} />
      </PageTitle>
      <AddressHint unknown={unknown} />
      <FilterBar chips={item === '' ? [] : [recordChip]}>
        <SelectFilter
          name={text.projects}
          value={project}
          options={text.projectChoices}
          onChoose={(chosen) => change({ project: chosen, item: '' })}
        />
        <SelectFilter name={text.who} value={user} options={names} onChoose={(chosen) => change({ user: chosen })} />
        <SelectFilter
          name={text.kind}
          value={scope}
          options={{ '': text.anything, ...text.kinds }}
          onChoose={(chosen) => change({ scope: chosen, item: '' })}
        />
        <SpanMenu
          span={{ after, before }}
          zone={view.zone}
          zoneOfProject={timezone}
          presets={Object.keys(words.span.presets)}
          onSpan={change}
          onZone={(zone) => change({ zone })}
        />
      </FilterBar>
      {error ? (
        <p className="bad" role="alert">
          {text.namesFailed(explainError(error))}
        </p>
      ) : null}
      <div className="panel activity">
        <QueryContent query={query} what={text.what}>
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
                    <ActivityEntry
                      key={`${entry.created_at} ${entry.scope} ${entry.item_id} ${entry.activity}`}
                      entry={entry}
                      zone={resolveZone(view.zone, timezone)}
                      place={project === 'all' ? placeOf(entry.team_id) : null}
                      onOnly={item === '' ? () => change({ scope: entry.scope, item: entry.item_id }) : undefined}
                    />
                  ))}
                </ol>
                <LoadMoreButton query={query} label={text.more} />
              </>
            )
          }
        </QueryContent>
      </div>
    </>
  );
}

interface Member {
  user: { uuid: string; first_name: string; email: string };
}

/** Loads the names of the organization's first hundred members. For other users, the page shows UUIDs. */
function useMemberNames(chosen: string): { names: Record<string, string>; error: unknown } {
  const { organization } = useProject();
  const { data, error } = useQuery({
    queryKey: ['organization', organization, 'names'],
    queryFn: ({ signal }) =>
      call<{ results: Member[] }>(
        { path: `/api/organizations/${organization}/members`, query: { limit: 100 } },
        signal,
      ),
    staleTime: 60_000,
  });
  const members = (data?.results ?? []).map(({ user: { uuid: id, first_name: name, email } }) => [
    id,
    name === '' ? email : `${name} (${email})`,
  ]);
  const names = { '': text.anybody, ...(chosen !== '' && { [chosen]: chosen }), ...Object.fromEntries(members) };
  return { names, error };
}

interface Member {
  user: { uuid: string; first_name: string; email: string };
}

/**
 * Returns a function that maps an environment ID to a display name: the project name, followed by the environment name
 * if the project has several environments.
 */
function usePlaces(): (team: number | null) => string {
  const { data: me } = useQuery(meQuery);
  const organization = me?.organization;
  return (id) => {
    if (id === null) return text.ofOrganization;
    const team = organization?.teams.find((one) => one.id === id);
    if (!organization || team === undefined) return `#${id}`;
    const { project, environment } = findDisplayNames(organization, team);
    return [project, environment].filter((name) => name !== null).join(' · ');
  };
}

function Nothing({ isNarrowed, onAll }: { isNarrowed: boolean; onAll: () => void }) {
  return (
    <EmptyState title={isNarrowed ? text.noMatchTitle : text.emptyTitle} icon="activity">
      <p className="quiet">{isNarrowed ? text.noMatch : text.empty}</p>
      {isNarrowed && (
        <div className="form-buttons">
          <Button onPress={onAll}>{text.clearFilters}</Button>
        </div>
      )}
    </EmptyState>
  );
}
