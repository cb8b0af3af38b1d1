// The list of warning types, with the number of affected events.

import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { type ApiCall, call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { formatAgo } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { Bars, groupIntoSpans } from '../../parts/chart.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { createRowShortcuts, usePageKeys } from '../../parts/keys.ts';
import { Search } from '../../parts/search.tsx';
import { SelectFilter } from '../../parts/select-filter.tsx';
import { SpanMenu, toTimeRange } from '../../parts/span.tsx';
import { EmptyState, QueryContent } from '../../parts/states.tsx';
import { Tile } from '../../parts/tile.tsx';
import { formatTime } from '../../parts/time.ts';
import { useIsWide } from '../../parts/wide.ts';
import { formatNumber, formatWarningType, words } from '../../words.ts';
import { toFilterValue, type WarningsUrlState } from './address.ts';
import { KindDetail } from './kind-detail.tsx';
import { getWarningKindKey, outcomeClasses, type WarningKind } from './warning-kind.ts';
import { text } from './words.ts';

export const createKindsRequest = (project: number, { view, span }: WarningsUrlState): ApiCall => ({
  path: `/api/projects/${project}/ingestion_warnings/counts`,
  query: { severity: toFilterValue(view.severity), ...span },
});

const figureTone = { dropped: 'bad', changed: 'warn', noted: undefined } as const;

/** Number of bars in the chart, which is small enough for users to distinguish the bars. */
const spans = 48;

export function WarningKinds({ address }: { address: WarningsUrlState }) {
  const { view, change } = address;
  const project = useProject();
  const panel = useRef<HTMLDivElement>(null);
  const request = createKindsRequest(project.id, address);
  const query = useQuery({
    queryKey: ['warnings', project.id, 'kinds', request.query],
    queryFn: ({ signal }) => call<{ results: WarningKind[] }>(request, signal),
    refetchInterval: 30_000,
  });
  const all = query.data?.results ?? [];
  const searchText = view.search.trim().toLowerCase();
  const kinds = all.filter(({ type, detail }) =>
    `${type} ${formatWarningType(type)} ${detail}`.toLowerCase().includes(searchText),
  );
  const first = useFirstKind(kinds);
  const isFirst = view.open === '' && first !== undefined;
  const openKey = isFirst ? getWarningKindKey(first) : view.open === 'none' ? '' : view.open;
  usePageKeys(createRowShortcuts(panel));
  const close = () => {
    change({ open: first === undefined ? '' : 'none' });
    requestAnimationFrame(() => panel.current?.querySelector<HTMLElement>(`[data-row="${openKey}"]`)?.focus());
  };
  return (
    <>
      <Figures kinds={all} isKnown={query.isSuccess} address={address} />
      <Filters address={address} />
      <div className="panel list-detail" ref={panel} {...(openKey !== '' && { 'data-open': '' })}>
        <div className="list warnings-list">
          <QueryContent query={query} what={text.what}>
            {() =>
              kinds.length === 0 ? (
                <Nothing isNarrowed={searchText !== '' || view.severity !== 'all'} address={address} />
              ) : (
                <Rows kinds={kinds} openKey={openKey} address={address} />
              )
            }
          </QueryContent>
        </div>
        {openKey !== '' && query.isSuccess && (
          <KindDetail
            key={view.open}
            kind={all.find((kind) => getWarningKindKey(kind) === openKey)}
            isOpenAlready={isFirst}
            address={address}
            onClose={close}
          />
        )}
      </div>
    </>
  );
}

/** Returns the warning that opens by default on a wide screen. The warning remains open when the list reloads. */
function useFirstKind(kinds: readonly WarningKind[]): WarningKind | undefined {
  const isWide = useIsWide();
  const [key, setKey] = useState('');
  const first = isWide ? (kinds.find((kind) => getWarningKindKey(kind) === key) ?? kinds[0]) : undefined;
  if (first !== undefined && getWarningKindKey(first) !== key) setKey(getWarningKindKey(first));
  return first;
}

function Filters({ address: { view, change, span } }: { address: WarningsUrlState }) {
  const project = useProject();
  return (
    <FilterBar
      chips={[]}
      search={
        <Search value={view.search} label={text.search} onSearch={(search) => change({ search }, { replace: true })} />
      }
    >
      <SelectFilter
        name={text.severity}
        value={view.severity}
        options={text.severities}
        onChoose={(severity) => change({ severity })}
      />
      <SpanMenu
        span={span}
        zone={view.zone}
        zoneOfProject={project.timezone}
        presets={['-1h', '-24h', '-7d', '-30d']}
        onSpan={change}
        onZone={(zone) => change({ zone })}
      />
    </FilterBar>
  );
}

function Figures({
  kinds,
  isKnown,
  address,
}: {
  kinds: readonly WarningKind[];
  isKnown: boolean;
  address: WarningsUrlState;
}) {
  const edges = toTimeRange(address.span);
  return (
    <section className="panel tiles warnings-tiles" aria-label={text.figures}>
      {(['dropped', 'changed', 'noted'] as const).map((outcome) => {
        const own = kinds.filter((kind) => kind.outcome === outcome);
        const count = own.reduce((sum, one) => sum + one.count, 0);
        const worst = own[0];
        return (
          <Tile
            key={outcome}
            label={text.tiles[outcome]}
            value={isKnown ? count : undefined}
            tone={count > 0 ? figureTone[outcome] : isKnown && outcome === 'dropped' ? 'good' : undefined}
            more={worst ? text.mostly(formatWarningType(worst.type), own.length) : isKnown ? text.none : ''}
            chart={
              count > 0 && (
                <Bars
                  values={groupIntoSpans(
                    own.flatMap(({ counts }) => counts),
                    { ...edges, spans: 24 },
                  )}
                  {...{ width: 96, height: 32, tone: outcomeClasses[outcome], label: text.over(text.tiles[outcome]) }}
                />
              )
            }
          />
        );
      })}
    </section>
  );
}

function Rows({
  kinds,
  openKey,
  address,
}: {
  kinds: readonly WarningKind[];
  openKey: string;
  address: WarningsUrlState;
}) {
  const { change, zone } = address;
  const edges = toTimeRange(address.span);
  return (
    <div className="warnings-rows">
      <table className="table" aria-label={text.list}>
        <thead>
          <tr>
            <th scope="col">{text.heads.kind}</th>
            <th scope="col" className="warnings-wide">
              {text.heads.when}
            </th>
            <th scope="col" className="number">
              {text.heads.events}
            </th>
            <th scope="col" className="warnings-first">
              {text.heads.first}
            </th>
            <th scope="col">{text.heads.last}</th>
          </tr>
        </thead>
        <tbody>
          {kinds.map((kind) => {
            const { type, outcome, detail, count, first_at: first, last_at: last, counts } = kind;
            const key = getWarningKindKey(kind);
            return (
              <tr key={key} className="warnings-row" {...(key === openKey && { 'data-open': '' })}>
                <td>
                  <span className={`dot warnings-dot ${outcomeClasses[outcome]}`} />
                  <div className="warnings-kind">
                    <button
                      type="button"
                      className="link-button row-link"
                      data-row={key}
                      onClick={() => change({ open: key })}
                    >
                      {formatWarningType(type)}
                    </button>
                    <span className={`warnings-outcome ${outcomeClasses[outcome]}`}>{words.outcomes[outcome]}</span>
                  </div>
                  <p className="quiet warnings-detail">{detail}</p>
                </td>
                <td className="warnings-wide warnings-bars">
                  <Bars
                    values={groupIntoSpans(counts, { ...edges, spans })}
                    {...{
                      width: 160,
                      height: 28,
                      tone: outcomeClasses[outcome],
                      label: text.over(formatWarningType(type)),
                    }}
                  />
                </td>
                <td className="number">{formatNumber(count)}</td>
                {[first, last].map((time, at) => (
                  <td key={at === 0 ? 'first' : 'last'} className={at === 0 ? 'quiet warnings-first' : 'quiet'}>
                    <time dateTime={time} title={formatTime(time, zone)}>
                      {formatAgo(time)}
                    </time>
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Nothing({ isNarrowed, address: { change } }: { isNarrowed: boolean; address: WarningsUrlState }) {
  if (isNarrowed) {
    return (
      <EmptyState title={text.noMatchTitle} icon="warnings">
        <p className="quiet">{text.noMatch}</p>
        <div className="form-buttons">
          <Button onPress={() => change({ search: '', severity: 'all' })}>{text.showAll}</Button>
        </div>
      </EmptyState>
    );
  }
  return (
    <div className="good">
      <EmptyState title={text.emptyTitle} icon="check">
        <p className="quiet">{text.empty}</p>
      </EmptyState>
    </div>
  );
}
