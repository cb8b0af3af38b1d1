import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { RecordAccessDialog } from '../../access/record-access.tsx';
import { text as accessText } from '../../access/words.ts';
import { useChange } from '../../answers/change.ts';
import { queryClient } from '../../api/queries.ts';
import { type ApiCall, call } from '../../api/request.ts';
import { visible } from '../../event-detail/json-text.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { formatPast } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { AddressHint, Chips } from '../../parts/chips.tsx';
import { Choice } from '../../parts/choice.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { Empty, explain, Loaded } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import { AddInsightDialog, AddTextDialog, EditDialog } from './dialogs.tsx';
import type { Dashboard, Tile } from './shapes.ts';
import { nameOfTile, TilePanel } from './tile.tsx';
import { text } from './words.ts';

interface BoardProps {
  id: string;
  /** In place of the time of its insights; empty: theirs. */
  time: string;
  onTime: (time: string) => void;
  onList: () => void;
  unknown: readonly string[];
}

/** One dashboard: what is kept at once, what is older computed after. */
export function Board({ id, time, onTime, onList, unknown }: BoardProps) {
  const project = useProject();
  const path = `/api/projects/${project.id}/dashboards/${encodeURIComponent(id)}`;
  const request = (refresh?: string): ApiCall => ({
    path,
    query: { refresh, filters_override: time === '' ? undefined : JSON.stringify({ date_from: time }) },
  });
  const key = ['dashboards', project.id, 'one', id, time];
  const query = useQuery({ queryKey: key, queryFn: ({ signal }) => call<Dashboard>(request('blocking'), signal) });
  const again = useMutation({
    mutationFn: () => call<Dashboard>(request('force_blocking')),
    onSuccess: (computed) => queryClient.setQueryData(key, computed),
  });
  const [said, setSaid] = useState('');
  const change = useChange<Dashboard>();
  const [dialog, setDialog] = useState<'insight' | 'text' | 'edit' | 'access' | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const { data } = query;
  const tiles = data?.tiles ?? [];
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
      <Chips chips={[]}>
        <Choice name={text.time} value={time} options={text.times} onChoose={onTime} />
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
      {data && dialog === 'insight' && <AddInsightDialog dashboard={data} onClose={() => setDialog(null)} />}
      {data && dialog === 'text' && <AddTextDialog path={path} onClose={() => setDialog(null)} />}
      {data && dialog === 'access' && (
        <RecordAccessDialog
          path={`dashboards/${data.id}`}
          name={visible(data.name || text.unnamed)}
          onClose={() => setDialog(null)}
        />
      )}
      {data && dialog === 'edit' && (
        <EditDialog dashboard={data} path={path} onRemoved={onList} onClose={() => setDialog(null)} />
      )}
    </>
  );
}
