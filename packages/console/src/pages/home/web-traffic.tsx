import { useState } from 'react';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { formatPast } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { AddressHint, FilterBar } from '../../parts/filter-bar.tsx';
import { SelectFilter } from '../../parts/select-filter.tsx';
import { EmptyState, QueryContent } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import type { Environment } from '../settings/environment.ts';
import { BreakdownPanel } from './breakdown-panel.tsx';
import { Checklist } from './checklist.tsx';
import { type Item, KeyFigures } from './figures.tsx';
import { type Dimension, formatRowFilterValue, type RowFilter, readFilter, writeFilter } from './filters.ts';
import { OnlineCount } from './online.tsx';
import {
  buildCommonQueryFields,
  type Change,
  createQueryCall,
  useHomeUrlState,
  useWebQuery,
  type View,
} from './queries.ts';
import { text } from './words.ts';

/** Shows website traffic. Clicking a row filters all figures by the row's value. */
export function WebTraffic() {
  const { id, test_account_filters_default_checked: isUsual } = useProject() as Environment;
  const { view, change, unknown } = useHomeUrlState();
  const [round, setRound] = useState(0);
  const excludesInternal = view.internal === '' ? isUsual === true : view.internal === 'excluded';
  const { range, compareFilter } = buildCommonQueryFields(view, excludesInternal);
  const overviewQuery = { kind: 'WebOverviewQuery', ...range, ...(compareFilter && { compareFilter }) };
  const overview = useWebQuery<Item[]>(overviewQuery, round);
  const filters = view.filters.map(readFilter).filter((filter) => filter !== null);
  const toggle = (filter: RowFilter) => {
    const others = filters.filter(({ dimension }) => dimension !== filter.dimension);
    const isOff = filters.some((one) => writeFilter(one) === writeFilter(filter));
    change({ filters: (isOff ? others : [...others, filter]).map(writeFilter) });
  };
  const panel = (
    dimensions: readonly Dimension[],
    open: Dimension,
    title: string,
    onOpen: (next: Dimension) => void,
  ) => (
    <BreakdownPanel {...{ title, dimensions, open, onOpen, range, compareFilter, round, filters }} onFilter={toggle} />
  );
  const isEmpty = overview.data?.results.every(({ value, previous }) => !value && !previous) ?? false;
  return (
    <>
      <PageTitle
        title={words.pages.home.title}
        now={
          <>
            <OnlineCount />
            {overview.data && <span className="pill">{text.updated(formatPast(overview.data.last_refresh))}</span>}
          </>
        }
      >
        <AsApiCallButton request={createQueryCall(id, overviewQuery)} />
        <Button isDisabled={overview.isFetching} onPress={() => setRound(round + 1)}>
          {words.refresh}
        </Button>
      </PageTitle>
      <AddressHint unknown={[...unknown, ...(filters.length < view.filters.length ? ['filters'] : [])]} />
      <ViewChips {...{ view, change, filters, excludesInternal }} onRemove={toggle} />
      <Checklist />
      <section className="panel home-figures" aria-label={text.figures}>
        <QueryContent query={overview} what={text.what}>
          {({ results }) => <KeyFigures items={results} {...{ range, round }} />}
        </QueryContent>
      </section>
      {isEmpty && filters.length > 0 ? (
        <div className="panel">
          <EmptyState title={text.noVisitors} icon="home">
            <p className="quiet">{text.noVisitorsText}</p>
            <Button onPress={() => change({ filters: [] })}>{text.clear}</Button>
          </EmptyState>
        </div>
      ) : (
        <div className="home-panels">
          {panel(['Page', 'InitialPage', 'ExitPage'], view.pages, text.panels.pages, (pages) =>
            change({ pages: pages as View['pages'] }, { replace: true }),
          )}
          {panel(sources, view.sources, text.panels.sources, (next) =>
            change({ sources: next as View['sources'] }, { replace: true }),
          )}
          {panel(['Country'], 'Country', text.panels.places, () => {})}
          {panel(['DeviceType', 'Browser', 'OS'], view.devices, text.panels.devices, (devices) =>
            change({ devices: devices as View['devices'] }, { replace: true }),
          )}
        </div>
      )}
    </>
  );
}

const sources: readonly Dimension[] = [
  ...(['InitialReferringDomain', 'InitialUTMSource', 'InitialUTMMedium', 'InitialUTMCampaign'] as const),
  ...(['InitialUTMTerm', 'InitialUTMContent'] as const),
];

function ViewChips({
  view,
  change,
  filters,
  excludesInternal,
  onRemove,
}: {
  view: View;
  change: Change;
  filters: readonly RowFilter[];
  excludesInternal: boolean;
  onRemove: (filter: RowFilter) => void;
}) {
  return (
    <FilterBar
      chips={filters.map((filter) => ({
        key: writeFilter(filter),
        name: text.names[filter.dimension],
        value: escapeInvisible(formatRowFilterValue(filter)),
        remove: () => onRemove(filter),
      }))}
    >
      <label className="chip choice">
        <input
          type="checkbox"
          checked={excludesInternal}
          onChange={({ target }) => change({ internal: target.checked ? 'excluded' : 'included' })}
        />
        {text.excludesInternal}
      </label>
      {view.time === 'custom' && (
        <>
          <Day name={text.from} value={view.from} onChoose={(from) => change({ from }, { replace: true })} />
          <Day name={text.to} value={view.to} onChoose={(to) => change({ to }, { replace: true })} />
        </>
      )}
      <SelectFilter
        name={text.time}
        value={view.time}
        options={text.times}
        onChoose={(time) => change({ time, ...(time !== 'custom' && { from: '', to: '' }) })}
      />
      <SelectFilter
        name={text.compare}
        value={view.compare}
        options={text.comparisons}
        onChoose={(compare) => change({ compare })}
      />
    </FilterBar>
  );
}

function Day({ name, value, onChoose }: { name: string; value: string; onChoose: (day: string) => void }) {
  return (
    <label className="chip choice">
      <span className="quiet">{name}:</span>
      <input type="date" value={value} onChange={(event) => onChoose(event.target.value)} />
    </label>
  );
}
