import { Button } from '../../parts/button.tsx';
import { explainError, QueryContent } from '../../parts/states.tsx';
import { formatMinute } from '../../parts/time.ts';
import { CountsBar } from './counts.tsx';
import { EmptyEvents } from './empty.tsx';
import { EventList } from './list.tsx';
import { isTooSlow, TooSlow } from './slow.tsx';
import { type EventsView, futureSpan } from './view.ts';
import { text } from './words.ts';

/** Shows the event chart, the list or the reason why it is empty, and links to other pages of the list. */
export function ListPane({
  shown,
  onPrevious,
  onNext,
}: {
  shown: EventsView;
  onPrevious: () => void;
  onNext: () => void;
}) {
  const { view, change, narrow, list, counts, span, zone, filters, scanned, request, next, future } = shown;
  const events = list.data?.results ?? [];
  const searchedUntil = list.data?.searched_until;
  return (
    <div className="list">
      {(!list.error || list.data) && <CountsBar counts={counts} span={span} zone={zone} onSpan={narrow} />}
      {future.error !== null && (
        <p className="counts-note bad" role="alert">{`${text.futureUnknown} ${explainError(future.error)}`}</p>
      )}
      {future.count > 0 && (
        <p className="counts-note">
          {text.future(future.count)}{' '}
          <Button look="plain" onPress={() => narrow(futureSpan())}>
            {text.showFuture}
          </Button>
        </p>
      )}
      <TooSlow error={list.error} span={span} scanned={scanned} onSpan={narrow} />
      {!isTooSlow(list.error) && (
        <QueryContent query={list} what={text.what}>
          {() =>
            events.length === 0 && view.cursor === '' && searchedUntil === undefined ? (
              <EmptyEvents
                path={request.path}
                filters={filters}
                span={span}
                zone={zone}
                onSpan={narrow}
                onClear={() =>
                  change({ event: '', search: '', distinct_id: '', person_id: '', properties: '', cursor: '' })
                }
              />
            ) : (
              // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
              <section className="events-scroll" tabIndex={0} aria-label={text.what} aria-busy={list.isPlaceholderData}>
                <EventList
                  events={events}
                  zone={zone}
                  columns={view.columns}
                  open={view.open}
                  caption={view.order === 'oldest' ? text.captionOldest : text.caption}
                  addressOf={(open) => ({ ...Object.fromEntries(new URLSearchParams(window.location.search)), open })}
                  onOpen={(open) => change({ open })}
                />
              </section>
            )
          }
        </QueryContent>
      )}
      {searchedUntil !== undefined && !list.error && (
        <p className="counts-note" role="status">
          {text.searchedUntil(formatMinute(searchedUntil, zone), view.order)}{' '}
          <Button look="plain" onPress={onNext}>
            {text.continueSearch}
          </Button>
        </p>
      )}
      <Pager
        isFirst={view.cursor === ''}
        isLast={next === undefined}
        hasAll={list.isSuccess && next === undefined && (events.length > 0 || view.cursor !== '')}
        order={view.order}
        onOrder={(order) => change({ order, cursor: '' })}
        onFirst={() => change({ cursor: '' })}
        onPrevious={onPrevious}
        onNext={onNext}
      />
    </div>
  );
}

interface PagerProps {
  isFirst: boolean;
  isLast: boolean;
  hasAll: boolean;
  order: 'newest' | 'oldest';
  onOrder: (order: 'newest' | 'oldest') => void;
  onFirst: () => void;
  onPrevious: () => void;
  onNext: () => void;
}

function Pager({ isFirst, isLast, hasAll, order, onOrder, onFirst, onPrevious, onNext }: PagerProps) {
  const other = order === 'oldest' ? 'newest' : 'oldest';
  return (
    <div className="pager">
      <Button look="plain" aria-label={text.orderLabel(text.order[order])} onPress={() => onOrder(other)}>
        {text.order[order]}
      </Button>
      <span className="hint grow">{hasAll ? text.end : ''}</span>
      {!isFirst && <Button onPress={onFirst}>{text.toFirst}</Button>}
      <Button onPress={onPrevious} isDisabled={isFirst} shortcut="p">
        {text.before}
      </Button>
      <Button onPress={onNext} isDisabled={isLast} shortcut="n">
        {text.after}
      </Button>
    </div>
  );
}
