// The settings section where users subscribe to regular reports about insights and dashboards.

import { useState } from 'react';
import { useOffsetPages } from '../../../api/offset-pages.ts';
import { useHasLevel, useProject } from '../../../frame/project.ts';
import { Button } from '../../../parts/button.tsx';
import { AsApiCall } from '../../../parts/dialog.tsx';
import { AddressHint } from '../../../parts/filter-bar.tsx';
import { LoadMoreButton } from '../../../parts/more.tsx';
import { EmptyState, QueryContent } from '../../../parts/states.tsx';
import { formatMinute } from '../../../parts/time.ts';
import { words } from '../../../words.ts';
import { SettingsBlock } from '../block.tsx';
import { EmptyList, takeFocus, useLastOpen } from '../lists.tsx';
import { OneSubscription, useTitles } from './one-subscription.tsx';
import { describeRule } from './rule.ts';
import {
  getTargets,
  type Subscription,
  type SubscriptionsUrlState,
  subscriptionsKey,
  type TargetType,
  targetTypes,
  toSubjectOption,
  useSubscriptionsPath,
  useSubscriptionsUrlState,
} from './subscription.ts';
import { SubscriptionForm } from './subscription-form.tsx';
import { text } from './words.ts';
import './subscriptions.css';

export function SubscriptionsSection() {
  const address = useSubscriptionsUrlState();
  const {
    view: { open, insight, dashboard, type },
    change,
    unknown,
  } = address;
  const last = useLastOpen(open);
  return (
    <>
      <AddressHint unknown={unknown} />
      {open === '' && <List last={last} address={address} />}
      {open === 'new' && (
        <SubscriptionForm
          heading={text.newOne}
          before={undefined}
          type={type === '' ? undefined : type}
          about={toSubjectOption({ insight: insight || null, dashboard: dashboard || null })}
          onDone={({ id }) => change({ open: String(id), insight: '', dashboard: '', type: '' })}
          onClose={() => change({ open: '', insight: '', dashboard: '', type: '' })}
        />
      )}
      {open !== '' && open !== 'new' && <OneSubscription key={open} id={open} address={address} />}
    </>
  );
}

function List({ last, address: { view, change } }: { last: string; address: SubscriptionsUrlState }) {
  const { id: projectId } = useProject();
  const mayChange = useHasLevel(1);
  const path = useSubscriptionsPath();
  const [isShowingCall, setShowingCall] = useState(false);
  const { deleted } = view;
  const query = { deleted: deleted ? 'true' : undefined };
  const list = useOffsetPages<Subscription>(subscriptionsKey(projectId), { path, query });
  const buttons = (
    <div className="form-buttons">
      <Button onPress={() => setShowingCall(true)}>{words.asApiCall}</Button>
      <Button onPress={() => change({ deleted: !deleted })}>{deleted ? text.active : text.deletedOnes}</Button>
      {!deleted && (
        <Button look="main" isDisabled={!mayChange} onPress={() => change({ open: 'new' })}>
          {text.newOne}
        </Button>
      )}
    </div>
  );
  return (
    <SettingsBlock title={deleted ? text.deletedOnes : text.what} about={text.about} buttons={buttons}>
      {!mayChange && <p className="note">{text.mayNot}</p>}
      <QueryContent query={list} what={text.what}>
        {({ rows }) => {
          if (rows.length === 0)
            return deleted ? (
              <NoneDeleted />
            ) : (
              <None mayChange={mayChange} onChoose={(type) => change({ open: 'new', type })} />
            );
          return (
            <>
              <Table rows={rows} last={last} onOpen={(id) => change({ open: String(id) })} />
              <LoadMoreButton query={list} />
            </>
          );
        }}
      </QueryContent>
      {isShowingCall && <AsApiCall request={{ path, query }} onClose={() => setShowingCall(false)} />}
    </SettingsBlock>
  );
}

function None({ mayChange, onChoose }: { mayChange: boolean; onChoose: (type: TargetType) => void }) {
  const kinds = targetTypes.map((type) => ({ kind: type, name: text.types[type], needs: text.needs[type] }));
  return (
    <EmptyList
      title={text.emptyTitle}
      icon="mail"
      about={text.empty}
      kinds={kinds}
      isDisabled={!mayChange}
      onChoose={onChoose}
    />
  );
}

function NoneDeleted() {
  return (
    <EmptyState title={text.noneDeleted} icon="mail">
      <p className="quiet">{text.noneDeletedText}</p>
    </EmptyState>
  );
}

function Table({ rows, last, onOpen }: { rows: readonly Subscription[]; last: string; onOpen: (id: number) => void }) {
  const { timezone } = useProject();
  const titleOf = useTitles(rows);
  return (
    <table className="table settings-table settings-rows" aria-label={text.what}>
      <thead>
        <tr>
          <th>{text.columns.title}</th>
          <th>{text.columns.to}</th>
          <th>{text.columns.next}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((one) => (
          <tr key={one.id}>
            <td>
              <button
                type="button"
                className="settings-row-link row-link"
                ref={String(one.id) === last ? takeFocus : undefined}
                onClick={() => onOpen(one.id)}
              >
                {titleOf(one)}
              </button>
              <div className="quiet">{describeRule(one, timezone)}</div>
            </td>
            <td>
              {text.types[one.target_type]}
              <Targets of={one} />
            </td>
            <td data-label={text.columns.next}>
              {!one.deleted && !one.enabled ? (
                <span className="pill pill-warn">{text.paused}</span>
              ) : one.next_delivery_date === null ? (
                <span className="quiet">{text.noNext}</span>
              ) : (
                formatMinute(one.next_delivery_date, timezone)
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Targets({ of }: { of: Subscription }) {
  const [first = '', ...others] = getTargets(of);
  return (
    <div className="hint">
      <span className="mono">{first}</span> {others.length > 0 && text.more(others.length)}
    </div>
  );
}
