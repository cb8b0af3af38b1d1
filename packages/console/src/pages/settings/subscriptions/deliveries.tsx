import { useState } from 'react';
import { useOffsetPages } from '../../../api/offset-pages.ts';
import { useProject } from '../../../frame/project.ts';
import { Button } from '../../../parts/button.tsx';
import { AsApiCall } from '../../../parts/dialog.tsx';
import { LoadMoreButton } from '../../../parts/more.tsx';
import { EmptyState, QueryContent } from '../../../parts/states.tsx';
import { formatMinute } from '../../../parts/time.ts';
import { words } from '../../../words.ts';
import { SettingsBlock } from '../block.tsx';
import { ReportDialog } from './report.tsx';
import { type Delivery, type Subscription, subscriptionsKey } from './subscription.ts';
import { findErrorAdvice, text } from './words.ts';

/** Lists a subscription's deliveries, newest first. A failed delivery shows its error with advice. */
export function DeliveryList({ of, path }: { of: Subscription; path: string }) {
  const { id: projectId } = useProject();
  const [isShowingCall, setShowingCall] = useState(false);
  const [shown, setShown] = useState<string | null>(null);
  const request = { path: `${path}/deliveries` };
  const query = useOffsetPages<Delivery>([...subscriptionsKey(projectId, String(of.id)), 'deliveries'], {
    ...request,
    every: (deliveries) => (deliveries.some(({ status }) => status === 'pending') ? 5000 : false),
  });
  const button = <Button onPress={() => setShowingCall(true)}>{words.asApiCall}</Button>;
  return (
    <SettingsBlock title={text.sent} about={text.sentText} buttons={button}>
      <QueryContent query={query} what={text.sent}>
        {({ rows }) =>
          rows.length === 0 ? (
            <EmptyState title={text.noneSentTitle} icon="mail">
              <p className="quiet">{text.noneSent}</p>
            </EmptyState>
          ) : (
            <>
              <Table deliveries={rows} onShow={setShown} />
              <LoadMoreButton query={query} />
            </>
          )
        }
      </QueryContent>
      {isShowingCall && <AsApiCall request={request} onClose={() => setShowingCall(false)} />}
      {shown !== null && (
        <ReportDialog
          title={text.report}
          request={{ path: `${request.path}/${shown}` }}
          onClose={() => setShown(null)}
        />
      )}
    </SettingsBlock>
  );
}

function Table({ deliveries, onShow }: { deliveries: readonly Delivery[]; onShow: (id: string) => void }) {
  const { timezone } = useProject();
  const columns = text.sentColumns;
  return (
    <table className="table settings-table" aria-label={text.sent}>
      <thead>
        <tr>
          <th>{columns.state}</th>
          <th>{columns.to}</th>
          <th>{columns.due}</th>
          <th>{columns.why}</th>
          <th>
            <span className="only-heard">{columns.report}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map((delivery) => (
          <tr key={delivery.id}>
            <td>
              <State of={delivery} />
            </td>
            <td>
              <span className="mono">{delivery.target}</span>
              {delivery.error !== null && delivery.status !== 'delivered' && (
                <Reason error={delivery.error} tries={delivery.attempts} />
              )}
            </td>
            <td data-label={columns.due}>{formatMinute(delivery.due_at, timezone)}</td>
            <td data-label={columns.why}>{text.occasions[delivery.occasion] ?? delivery.occasion}</td>
            <td>
              {delivery.occasion !== 'ended' && (
                <Button look="plain" aria-label={text.showReport(delivery.target)} onPress={() => onShow(delivery.id)}>
                  {text.show}
                </Button>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const looks: Record<Delivery['status'], string> = {
  pending: 'pill',
  delivered: 'pill pill-good',
  failed: 'pill pill-bad',
  cancelled: 'pill',
};

function State({ of: { status, attempts, error } }: { of: Delivery }) {
  const isRetrying = status === 'pending' && attempts > 0 && error !== null;
  return (
    <span className={isRetrying ? 'pill pill-warn' : looks[status]}>
      <span className="dot" />
      {isRetrying ? text.retrying : text.states[status]}
    </span>
  );
}

function Reason({ error, tries }: { error: string; tries: number }) {
  const reason = findErrorAdvice(error);
  return (
    <div className="settings-reason">
      {reason !== '' && <p>{reason}</p>}
      <p className="quiet settings-response">
        {text.theySaid}: <code>{error}</code> ({text.tries(tries)})
      </p>
    </div>
  );
}
