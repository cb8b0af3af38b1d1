import { useInfiniteQuery } from '@tanstack/react-query';
import { call, readCursor } from '../../api/request.ts';
import { type Facts, WarningDetails } from '../../event-detail/finding.tsx';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { RuleLink } from '../../parts/rule-link.tsx';
import { CloseButton, SidePanel } from '../../parts/side-panel.tsx';
import { EmptyState, QueryContent } from '../../parts/states.tsx';
import { formatTime } from '../../parts/time.ts';
import { formatCount, formatWarningType, words } from '../../words.ts';
import type { WarningsUrlState } from './address.ts';
import type { WarningKind } from './warning-kind.ts';
import { text } from './words.ts';

interface Warning {
  id: string;
  count: number;
  details: Facts;
  timestamp: string;
}

const pills = { dropped: 'pill-bad', changed: 'pill-warn', noted: '' };

/**
 * Shows the details of a warning type: its meaning, its rule and the affected events.
 * @param kind a warning type; undefined if the time range does not include warnings of the requested type
 */
export function KindDetail({
  kind,
  isOpenAlready,
  address,
  onClose,
}: {
  kind: WarningKind | undefined;
  isOpenAlready: boolean;
  address: WarningsUrlState;
  onClose: () => void;
}) {
  if (kind === undefined) {
    return (
      <SidePanel title={text.goneTitle} onClose={onClose}>
        <EmptyState title={text.goneTitle} icon="gone">
          <p className="quiet">{text.gone}</p>
        </EmptyState>
      </SidePanel>
    );
  }
  const { type, outcome, detail, rule, count, first_at: first, last_at: last } = kind;
  const { zone } = address;
  return (
    <SidePanel
      title={formatWarningType(type)}
      isOpenAlready={isOpenAlready}
      onClose={onClose}
      head={
        <div className="detail-head">
          <div className="detail-title">
            <h2>{formatWarningType(type)}</h2>
            <CloseButton label={text.close} onClose={onClose} />
          </div>
          <p>
            <span className={`pill ${pills[outcome]}`}>{words.outcomes[outcome]}</span>{' '}
            <span className="quiet">{formatCount(count, 'event')}</span>
          </p>
          <p>{detail}</p>
          <p>
            <RuleLink rule={rule} />
          </p>
        </div>
      }
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
      <section className="detail-body" tabIndex={0} aria-label={formatWarningType(type)}>
        <dl className="facts">
          {(
            [
              [text.facts.type, type],
              [text.facts.first, formatTime(first, zone)],
              [text.facts.last, formatTime(last, zone)],
            ] as const
          ).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd className="mono">{value}</dd>
            </div>
          ))}
        </dl>
        <Samples kind={kind} address={address} />
      </section>
    </SidePanel>
  );
}

function Samples({ kind: { type, severity, outcome }, address }: { kind: WarningKind; address: WarningsUrlState }) {
  const { id } = useProject();
  const { span, zone } = address;
  const query = useInfiniteQuery({
    queryKey: ['warnings', id, 'samples', severity, type, span],
    queryFn: ({ pageParam, signal }) =>
      call<{ results: Warning[]; next: string | null }>(
        {
          path: `/api/projects/${id}/ingestion_warnings`,
          query: { type, severity, ...span, limit: 20, cursor: pageParam },
        },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => readCursor(next),
  });
  return (
    <QueryContent query={query} what={text.samples}>
      {({ pages }) => (
        <section aria-label={text.samples}>
          <h3 className="warnings-samples">{text.samples}</h3>
          <ol>
            {pages
              .flatMap(({ results }) => results)
              .map(({ id: warning, count, details, timestamp }) => (
                <li key={warning} className="warnings-sample">
                  <p className="mono quiet">
                    {formatTime(timestamp, zone)}
                    {count > 1 && ` · ${formatCount(count, 'event')}`}
                  </p>
                  <WarningDetails details={details} isStored={outcome !== 'dropped'} />
                </li>
              ))}
          </ol>
          {query.hasNextPage && (
            <div className="form-buttons warnings-more">
              <Button isDisabled={query.isFetchingNextPage} onPress={() => void query.fetchNextPage()}>
                {text.more}
              </Button>
            </div>
          )}
        </section>
      )}
    </QueryContent>
  );
}
