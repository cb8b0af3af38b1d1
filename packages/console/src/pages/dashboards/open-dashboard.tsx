// A dashboard with its tiles, filters and edit mode.

import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useRef, useState } from 'react';
import type { ApiCall } from '../../api/request.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import {
  DayFields,
  formatRange,
  listRangeOptions,
  parseRangeKey,
  parseRangeOption,
  toRangeKey,
} from '../../filters/date-range.tsx';
import { useFilterLines } from '../../filters/filter-list.tsx';
import { loadPageCode } from '../../frame/broken.tsx';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { formatPast } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { AddressHint, FilterBar } from '../../parts/filter-bar.tsx';
import { NoticeLine } from '../../parts/notice.tsx';
import { SelectFilter } from '../../parts/select-filter.tsx';
import { EmptyState, explainError, QueryContent } from '../../parts/states.tsx';
import { useRecordChange } from '../../records/change.ts';
import { type OfferUndo, useUndo } from '../../records/undo.ts';
import { ChartPlace } from '../../results/annotation.ts';
import { words } from '../../words.ts';
import { AddInsightsDialog } from './add-insights.tsx';
import type { OpenDialog } from './dashboard-dialog.tsx';
import { type DashboardAction, DashboardMenu } from './dashboard-menu.tsx';
import { type DashboardView, useDashboard, usesVariables } from './load.ts';
import type { Dashboard, Tile } from './shapes.ts';
import { TextTileDialog } from './text-dialog.tsx';
import { getTileName } from './tile.tsx';
import { type GridChanges, TileGrid } from './tile-grid.tsx';
import { text } from './words.ts';

const DashboardDialog = lazy(
  loadPageCode(() => import('./dashboard-dialog.tsx').then((part) => ({ default: part.DashboardDialog }))),
);

/** This code is loaded only if one of the dashboard's SQL insights contains variables. */
const DashboardVariables = lazy(
  loadPageCode(() => import('./dashboard-variables.tsx').then((part) => ({ default: part.DashboardVariables }))),
);

interface OpenDashboardProps {
  id: string;
  view: DashboardView;
  isEditing: boolean;
  onView: (view: Partial<DashboardView>) => void;
  onEditing: (isEditing: boolean) => void;
  onList: () => void;
  onOpen: (id: number) => void;
  /** Called after the deletion, so that the list page can offer to undo it. */
  onRemoved: OfferUndo;
  unknown: readonly string[];
  now?: ReactNode;
}

/** A dashboard, whose tiles users can move, resize and remove only in edit mode. */
export function OpenDashboard({
  id,
  view,
  isEditing,
  onView,
  onEditing,
  onList,
  onOpen,
  onRemoved,
  unknown,
  now,
}: OpenDashboardProps) {
  const board = useDashboard(id, view);
  const { path, query, refresh, states } = board;
  const { data } = query;
  const { notice, offerUndo, clear } = useUndo();
  const change = useRecordChange<Dashboard>();
  const copy = useRecordChange<Dashboard>(({ id: copied }) => onOpen(copied));
  const [dialog, setDialog] = useState<OpenDialog | 'insight' | { tile: Tile | null } | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const shown = view.filters ?? savedFilters(data);
  const failure = change.error ?? copy.error ?? refresh.error;
  const changes: GridChanges = {
    onMove(tile, to) {
      const others = states.flatMap((state) => (state.tile.id === tile.id ? [] : state.tile));
      const order = others.toSpliced(to, 0, tile);
      board.setTiles(order);
      const body = { tile_order: order.map((one) => one.id) };
      change.mutate({ method: 'POST', path: `${path}/reorder_tiles`, body });
    },
    onResize(tile, size) {
      const resized = { ...tile, layouts: { ...tile.layouts, sm: { ...tile.layouts.sm, ...size } } };
      board.setTiles(states.map((state) => (state.tile.id === tile.id ? resized : state.tile)));
      change.mutate({ method: 'PATCH', path, body: { tiles: [{ id: tile.id, layouts: resized.layouts }] } });
    },
    onRemove(tile) {
      const setDeleted = (deleted: boolean) =>
        ({ method: 'PATCH', path, body: { tiles: [{ id: tile.id, deleted }] } }) as const;
      change.mutate(setDeleted(true), {
        onSuccess: () => offerUndo(text.takenOff(getTileName(tile)), [setDeleted(false)]),
      });
    },
    onEditText: (tile) => setDialog({ tile }),
  };
  const act = (action: DashboardAction) => {
    if (action === 'full') void box.current?.requestFullscreen();
    else if (action === 'copy' && data) copy.mutate(copyOf(path, data));
    else if (action === 'text') setDialog({ tile: null });
    else if (action !== 'copy') setDialog(action);
  };
  return (
    <>
      <PageTitle
        title={data ? escapeInvisible(data.name || text.unnamed) : words.pages.dashboards.title}
        about={escapeInvisible(data?.description ?? '')}
        onRename={data && (() => setDialog('details'))}
        now={
          <>
            {now}
            {data && <Age isLoading={board.isLoading} at={board.lastRefresh} hasInsights={states.some(hasInsight)} />}
          </>
        }
      >
        <Button aria-label={text.toList} onPress={onList}>
          <span className="wide-only">{text.toList}</span>
          <span className="narrow-only">{text.back}</span>
        </Button>
        <Button aria-pressed={isEditing} onPress={() => onEditing(!isEditing)}>
          {isEditing ? text.editDone : text.editLayout}
        </Button>
        <DashboardMenu id={id} onAction={act} />
        <Button look="main" isDisabled={refresh.isPending || !states.some(hasInsight)} onPress={() => refresh.mutate()}>
          {text.refresh}
        </Button>
      </PageTitle>
      <AddressHint unknown={unknown} />
      <ViewChips {...{ view, shown, onView }} saved={data?.persisted_filters ?? {}}>
        <Button onPress={() => setDialog('filters')}>{text.filters}</Button>
        <span className="wide-only">
          <Button onPress={() => setDialog('insight')}>{text.addInsight}</Button>
        </span>
        <Subscribe dashboard={id} />
        {isEditing && <Button onPress={() => setDialog({ tile: null })}>{text.addText}</Button>}
      </ViewChips>
      {data && states.some(({ tile }) => usesVariables(tile.insight?.query)) && (
        <Suspense>
          <DashboardVariables
            dashboard={data}
            states={states}
            values={view.variables}
            onValues={(variables) => onView({ variables })}
          />
        </Suspense>
      )}
      {failure && (
        <p className="health-line" role="alert">
          {explainError(failure)}
        </p>
      )}
      <NoticeLine notice={notice} onDone={clear} />
      {isEditing && <p className="quiet">{text.editHint}</p>}
      <div className="board" ref={box}>
        <QueryContent query={query} what={text.one}>
          {() =>
            states.length === 0 ? (
              <NoTiles onAdd={() => setDialog('insight')} />
            ) : (
              <ChartPlace value={{ dashboard: data?.id }}>
                <TileGrid {...{ states, isEditing }} {...changes} />
              </ChartPlace>
            )
          }
        </QueryContent>
      </div>
      {/* The code of these dialogs is not loaded on demand, because users may start typing as soon as the dialog opens. */}
      {data && dialog === 'insight' && <AddInsightsDialog dashboard={data} onClose={() => setDialog(null)} />}
      {typeof dialog === 'object' && dialog !== null && (
        <TextTileDialog tile={dialog.tile} path={path} onClose={() => setDialog(null)} />
      )}
      {data && typeof dialog === 'string' && dialog !== 'insight' && (
        <Suspense>
          <DashboardDialog
            {...{ dialog, path, view, shown, onView, onRemoved, onList }}
            request={board.request}
            dashboard={data}
            onClose={() => setDialog(null)}
          />
        </Suspense>
      )}
    </>
  );
}

/** A button that opens the subscription form. On phones, the form is in the dashboard's menu. */
function Subscribe({ dashboard }: { dashboard: string }) {
  const { id } = useProject();
  return (
    <Link
      className="button wide-only"
      to={`/projects/${id}/settings/subscriptions`}
      search={{ open: 'new', dashboard } as never}
    >
      {text.subscribe}
    </Link>
  );
}

const hasInsight = ({ tile }: { tile: Tile }) => tile.insight !== null;

const copyOf = (path: string, { id, name }: Dashboard): ApiCall => ({
  method: 'POST',
  path: path.replace(/\/[^/]+$/, ''),
  body: { name: text.copyOf(name || text.unnamed).slice(0, 400), use_dashboard: id },
});

function savedFilters(dashboard: Dashboard | undefined): readonly unknown[] {
  const saved = dashboard?.persisted_filters?.properties;
  return Array.isArray(saved) ? saved : [];
}

function Age({ isLoading, at, hasInsights }: { isLoading: boolean; at: string | null; hasInsights: boolean }) {
  if (!hasInsights) return null;
  return (
    <span className="pill" role="status">
      {isLoading ? text.computing : at === null ? text.notComputed : text.age(formatPast(at))}
    </span>
  );
}

const NoTiles = ({ onAdd }: { onAdd: () => void }) => (
  <div className="panel">
    <EmptyState title={text.noTile} icon="dashboards">
      <p className="quiet">{text.noTileText}</p>
      <div className="form-buttons">
        <Button look="main" onPress={onAdd}>
          {text.addInsight}
        </Button>
      </div>
    </EmptyState>
  </div>
);

/** Shows the date range and filters of the user's own view. Other users do not see them until they are saved. */
function ViewChips({
  view,
  shown,
  saved,
  onView,
  children,
}: {
  view: DashboardView;
  shown: readonly unknown[];
  saved: NonNullable<Dashboard['persisted_filters']>;
  onView: OpenDashboardProps['onView'];
  children: React.ReactNode;
}) {
  const lineOf = useFilterLines(shown);
  const range = parseRangeKey(view.time);
  const { value, options } = listRangeOptions(range);
  const savedRange = saved.date_from ? text.savedRange(formatRange(saved)) : text.ownRanges;
  return (
    <FilterBar
      chips={shown.map((filter, at) => ({
        key: String(at),
        name: lineOf(filter),
        value: '',
        remove: () => onView({ filters: shown.filter((_, other) => other !== at) }),
      }))}
    >
      <SelectFilter
        name={text.time}
        value={value}
        options={{ '': savedRange, ...options }}
        onChoose={(chosen) => onView({ time: toRangeKey(parseRangeOption(chosen)) })}
      />
      <DayFields range={range} onRange={(next) => onView({ time: toRangeKey(next) })} />
      {children}
    </FilterBar>
  );
}
