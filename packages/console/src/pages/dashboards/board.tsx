import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { RecordAccessDialog } from '../../access/record-access.tsx';
import { text as accessText } from '../../access/words.ts';
import { useChange } from '../../answers/change.ts';
import { queryClient } from '../../api/queries.ts';
import { type ApiCall, call } from '../../api/request.ts';
import { visible } from '../../event-detail/json-text.ts';
import { useFilterLines } from '../../filters/filter-list.tsx';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { formatPast } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { AddressHint, Chips } from '../../parts/chips.tsx';
import { Choice } from '../../parts/choice.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { Empty, explain, Loaded } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import { AddInsightDialog, AddTextDialog, EditDialog, FiltersDialog } from './dialogs.tsx';
import type { Dashboard, DashboardFilters, Tile } from './shapes.ts';
import { nameOfTile, TilePanel } from './tile.tsx';
import { text } from './words.ts';

interface BoardProps {
  id: string;
  /** In place of the time of its insights; empty: theirs. */
  time: string;
  /** In place of the conditions that are kept; null: those. */
  filters: readonly unknown[] | null;
  onView: (view: { time: string; filters: readonly unknown[] | null }) => void;
  onList: () => void;
  unknown: readonly string[];
}

type DialogOfBoard = 'insight' | 'text' | 'filters' | 'edit' | 'access';

/** One dashboard: what is kept at once, what is older computed after. */
export function Board({ id, time, filters, onView, onList, unknown }: BoardProps) {
  const project = useProject();
  const { path, request, key, query } = useBoard({ id, time, filters });
  const again = useMutation({
    mutationFn: () => call<Dashboard>(request('force_blocking')),
    onSuccess: (computed) => queryClient.setQueryData(key, computed),
  });
  const [said, setSaid] = useState('');
  const change = useChange<Dashboard>();
  const [dialog, setDialog] = useState<DialogOfBoard | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const { data } = query;
  const tiles = data?.tiles ?? [];
  const shown = filters ?? keptFilters(data);
  const lineOf = useFilterLines(shown);
  const move = (tile: Tile, to: number) => {
    const others = tiles.filter(({ id: other }) => other !== tile.id);
    const order = [...others.slice(0, to), tile, ...others.slice(to)];
    if (data) queryClient.setQueryData(key, { ...data, tiles: order });
    setSaid(text.moved(nameOfTile(tile), to + 1));
    change.mutate({ method: 'POST', path: `${path}/reorder_tiles`, body: { tile_order: order.map((one) => one.id) } });
  };
  const setWidth = (tile: Tile, isWide: boolean) => {
    // Its place stays as it is, also where it has none.
    const layouts = { ...tile.layouts, sm: { ...tile.layouts.sm, w: isWide ? 12 : 6 } };
    change.mutate({ method: 'PATCH', path, body: { tiles: [{ id: tile.id, layouts }] } });
  };
  const takeOff = (tile: Tile) =>
    change.mutate({ method: 'PATCH', path, body: { tiles: [{ id: tile.id, deleted: true }] } });
  return (
    <>
      <PageTitle
        title={data ? visible(data.name || text.unnamed) : words.pages.dashboards.title}
        now={
          data && (
            <span className="pill" role="status">
              {again.isPending
                ? text.computing
                : data.last_refresh === null
                  ? text.notComputed
                  : text.age(formatPast(data.last_refresh))}
            </span>
          )
        }
      >
        <Button onPress={onList}>{text.toList}</Button>
        <Link
          className="button"
          to={`/projects/${project.id}/settings/subscriptions`}
          search={{ open: 'new', dashboard: id } as never}
        >
          {text.subscribe}
        </Link>
        <AsApiCallButton request={request()} />
        <Button look="main" isDisabled={again.isPending || tiles.length === 0} onPress={() => again.mutate()}>
          {text.refresh}
        </Button>
      </PageTitle>
      <AddressHint unknown={unknown} />
      <Chips
        chips={shown.map((filter, at) => ({
          key: String(at),
          name: lineOf(filter),
          value: '',
          remove: () => onView({ time, filters: shown.filter((_, other) => other !== at) }),
        }))}
      >
        <Choice
          name={text.time}
          value={time}
          options={text.times}
          onChoose={(next) => onView({ time: next, filters })}
        />
        <Button onPress={() => setDialog('filters')}>{text.filters}</Button>
        <Button onPress={() => setDialog('insight')}>{text.addInsight}</Button>
        <Button onPress={() => setDialog('text')}>{text.addText}</Button>
        <Button onPress={() => setDialog('edit')}>{text.edit}</Button>
        <Button onPress={() => setDialog('access')}>{accessText.open}</Button>
        <Button onPress={() => void box.current?.requestFullscreen()}>{text.full}</Button>
      </Chips>
      {(change.error ?? again.error) && (
        <p className="health-line" role="alert">
          {explain(change.error ?? again.error)}
        </p>
      )}
      <p role="status" className="only-heard">
        {said}
      </p>
      <div className="board" ref={box}>
        <Loaded query={query} what={text.one}>
          {() =>
            tiles.length === 0 ? (
              <div className="panel">
                <Empty title={text.noTile} icon="dashboards">
                  <p className="quiet">{text.noTileText}</p>
                </Empty>
              </div>
            ) : (
              <ol className="board-tiles" aria-label={text.tiles}>
                {tiles.map((tile, at) => (
                  <TilePanel
                    key={tile.id}
                    tile={tile}
                    onEarlier={at === 0 ? undefined : () => move(tile, at - 1)}
                    onLater={at === tiles.length - 1 ? undefined : () => move(tile, at + 1)}
                    onDropped={(dragged) => {
                      const found = tiles.find(({ id: other }) => other === dragged);
                      if (found && found.id !== tile.id) move(found, at);
                    }}
                    onWidth={(isWide) => setWidth(tile, isWide)}
                    onTakeOff={() => takeOff(tile)}
                  />
                ))}
              </ol>
            )
          }
        </Loaded>
      </div>
      {data && dialog !== null && (
        <BoardDialog
          dialog={dialog}
          dashboard={data}
          view={{ time, filters: shown }}
          {...{ path, onView, onList }}
          onClose={() => setDialog(null)}
        />
      )}
    </>
  );
}

const keptFilters = (dashboard: Dashboard | undefined): readonly unknown[] => {
  const kept = dashboard?.persisted_filters?.properties;
  return Array.isArray(kept) ? kept : [];
};

/** What is asked for: the dashboard as it is kept, or with the time and the conditions of who looks. */
function useBoard({ id, time, filters }: Pick<BoardProps, 'id' | 'time' | 'filters'>) {
  const project = useProject();
  const path = `/api/projects/${project.id}/dashboards/${encodeURIComponent(id)}`;
  const isOwnView = time !== '' || filters !== null;
  // Filters of a request replace all that are kept: who looks with their own needs these first.
  const stored = useQuery({
    queryKey: ['dashboards', project.id, 'stored', id],
    queryFn: ({ signal }) => call<Dashboard>({ path }, signal),
    enabled: isOwnView,
  });
  const own: DashboardFilters = {
    ...stored.data?.persisted_filters,
    ...(time !== '' && { date_from: time, date_to: undefined }),
    ...(filters !== null && { properties: filters }),
  };
  const request = (refresh?: string): ApiCall => ({
    path,
    query: { refresh, filters_override: isOwnView ? JSON.stringify(own) : undefined },
  });
  const key = ['dashboards', project.id, 'one', id, isOwnView ? own : null];
  const query = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => call<Dashboard>(request('blocking'), signal),
    enabled: !isOwnView || stored.data !== undefined || stored.error !== null,
  });
  return { path, request, key, query };
}

function BoardDialog({
  dialog,
  dashboard,
  path,
  view: { time, filters },
  onView,
  onList,
  onClose,
}: Pick<BoardProps, 'onView' | 'onList'> & {
  dialog: DialogOfBoard;
  dashboard: Dashboard;
  path: string;
  view: { time: string; filters: readonly unknown[] };
  onClose: () => void;
}) {
  switch (dialog) {
    case 'insight':
      return <AddInsightDialog dashboard={dashboard} onClose={onClose} />;
    case 'text':
      return <AddTextDialog path={path} onClose={onClose} />;
    case 'access':
      return (
        <RecordAccessDialog
          path={`dashboards/${dashboard.id}`}
          name={visible(dashboard.name || text.unnamed)}
          onClose={onClose}
        />
      );
    case 'edit':
      return <EditDialog dashboard={dashboard} path={path} onRemoved={onList} onClose={onClose} />;
    case 'filters': {
      const show = (next: { time: string; filters: readonly unknown[] | null }) => {
        onClose();
        onView(next);
      };
      return (
        <FiltersDialog
          {...{ path, time, onClose }}
          kept={dashboard.persisted_filters ?? {}}
          shown={filters}
          onShow={(next) => show({ time, filters: next })}
          onKept={() => show({ time: '', filters: null })}
        />
      );
    }
    default:
      return dialog satisfies never;
  }
}
