import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { queryClient } from '../../../api/queries.ts';
import { call } from '../../../api/request.ts';
import { useHasLevel, useProject } from '../../../frame/project.ts';
import { Button } from '../../../parts/button.tsx';
import { AsApiCall } from '../../../parts/dialog.tsx';
import { FormProblem } from '../../../parts/form.tsx';
import { QueryContent } from '../../../parts/states.tsx';
import { formatDay, formatMinute } from '../../../parts/time.ts';
import { words } from '../../../words.ts';
import { ConfirmationDialog, SettingsBlock, SuccessMessage } from '../block.tsx';
import { useSubjectOptions } from '../offered.ts';
import { DeliveryList } from './deliveries.tsx';
import { NoMail } from './no-mail.tsx';
import { describeRule } from './rule.ts';
import {
  getTargets,
  isMasked,
  type Subscription,
  type SubscriptionsUrlState,
  subscriptionsKey,
  toSubjectOption,
  useSubscriptionsPath,
} from './subscription.ts';
import { SubscriptionForm } from './subscription-form.tsx';
import { text } from './words.ts';

/** A subscription's schedule, recipients and deliveries. */
export function OneSubscription({ id, address: { view, change } }: { id: string; address: SubscriptionsUrlState }) {
  const { id: projectId } = useProject();
  const path = `${useSubscriptionsPath()}/${encodeURIComponent(id)}`;
  const query = useQuery({
    queryKey: subscriptionsKey(projectId, id),
    queryFn: ({ signal }) => call<Subscription>({ path }, signal),
  });
  const titleOf = useTitles(query.data ? [query.data] : []);
  return (
    <>
      <div className="form-buttons">
        <Button look="plain" autoFocus onPress={() => change({ open: '', edit: false })}>
          ← {text.all}
        </Button>
      </div>
      <QueryContent query={query} what={text.one}>
        {(one) =>
          view.edit ? (
            <SubscriptionForm
              heading={text.form.change(titleOf(one))}
              before={one}
              about={toSubjectOption(one)}
              onDone={() => change({ edit: false })}
              onClose={() => change({ edit: false })}
            />
          ) : (
            <>
              <Head one={one} path={path} onEdit={() => change({ edit: true })} />
              <DeliveryList of={one} path={path} />
            </>
          )
        }
      </QueryContent>
    </>
  );
}

function Head({ one, path, onEdit }: { one: Subscription; path: string; onEdit: () => void }) {
  const { id: projectId, timezone } = useProject();
  const mayChange = useHasLevel(1);
  const [dialog, setDialog] = useState<'call' | 'delete' | null>(null);
  const refresh = () => queryClient.invalidateQueries({ queryKey: subscriptionsKey(projectId) });
  const setDeleted = async (deleted: boolean) => {
    await call({ method: 'PATCH', path, body: { deleted } });
    await refresh();
  };
  const restore = useMutation({ mutationFn: () => setDeleted(false) });
  const change = useMutation({
    mutationFn: (body: { enabled: boolean } | { send_test_now: true }) => call({ method: 'PATCH', path, body }),
    onSuccess: refresh,
  });
  const isTestSent = change.isSuccess && 'send_test_now' in change.variables;
  const subject = useSubjects([one])(one);
  const title = useTitles([one])(one);
  const buttons = (
    <div className="form-buttons">
      <Button onPress={() => setDialog('call')}>{words.asApiCall}</Button>
      {one.deleted ? (
        <Button look="main" isDisabled={!mayChange || restore.isPending} onPress={() => restore.mutate()}>
          {text.restore}
        </Button>
      ) : (
        <>
          <Button isDisabled={!mayChange || change.isPending} onPress={() => change.mutate({ send_test_now: true })}>
            {text.sendTest}
          </Button>
          <Button
            look={one.enabled ? undefined : 'main'}
            isDisabled={!mayChange || change.isPending}
            onPress={() => change.mutate({ enabled: !one.enabled })}
          >
            {one.enabled ? text.pause : text.resume}
          </Button>
          <Button isDisabled={!mayChange} onPress={onEdit}>
            {text.change}
          </Button>
          <Button look="danger" isDisabled={!mayChange} onPress={() => setDialog('delete')}>
            {text.delete}
          </Button>
        </>
      )}
    </div>
  );
  return (
    <SettingsBlock
      title={title}
      about={text.sentence(describeRule(one, timezone), text.by[one.target_type])}
      buttons={buttons}
    >
      {!mayChange && <p className="note">{text.mayNot}</p>}
      {one.deleted ? (
        <p className="note">{text.deletedNote}</p>
      ) : one.enabled ? (
        <Next at={one.next_delivery_date} />
      ) : (
        <p className="note">{text.pausedNote}</p>
      )}
      {one.target_type === 'email' && <NoMail />}
      {subject !== null && (
        <p>
          {text.reportOf}{' '}
          <Link to={`/projects/${projectId}/${subject.page}`} search={subject.search as never}>
            {subject.name}
          </Link>
        </p>
      )}
      {isTestSent && <SuccessMessage>{text.testSent}</SuccessMessage>}
      <FormProblem problem={restore.error ?? change.error} fields={[]} />
      {one.dashboard_export_insights.length > 0 && <ChosenInsights of={one} />}
      <ul className="subscription-targets">
        {getTargets(one).map((target) => (
          <li key={target} className="mono">
            {target}
          </li>
        ))}
      </ul>
      {isMasked(one.target_value) && <p className="hint">{text.masked}</p>}
      <p className="hint">
        {text.madeBy(
          one.created_by?.first_name || one.created_by?.email || text.deletedUser,
          formatDay(one.created_at, timezone),
        )}
      </p>
      {dialog === 'call' && <AsApiCall request={{ path }} onClose={() => setDialog(null)} />}
      {dialog === 'delete' && (
        <ConfirmationDialog
          title={text.deleteTitle(title)}
          verb={text.delete}
          onClose={() => setDialog(null)}
          act={() => setDeleted(true)}
        >
          {text.deleteText}
        </ConfirmationDialog>
      )}
    </SettingsBlock>
  );
}

/** Lists the insights that the report includes. Shows their IDs until their names are loaded. */
function ChosenInsights({ of: { dashboard, dashboard_export_insights: chosen } }: { of: Subscription }) {
  const { data = [] } = useSubjectOptions('insights', { dashboards: `[${dashboard}]` }, dashboard !== null);
  const nameOf = (id: number) => data.find((one) => one.id === id)?.name ?? text.ofInsight(id);
  return <p>{text.onlyInsights(chosen.map(nameOf))}</p>;
}

function Next({ at }: { at: string | null }) {
  const { timezone } = useProject();
  return <p>{at === null ? text.noMore : text.nextOn(formatMinute(at, timezone))}</p>;
}

/**
 * Returns a function that computes a subscription's title. The default title is the name of the insight, dashboard or
 * project.
 */
export function useTitles(subscriptions: readonly Subscription[]): (one: Subscription) => string {
  const { name: projectName } = useProject();
  const subjectOf = useSubjects(subscriptions);
  return (one) => one.title?.trim() || subjectOf(one)?.name || projectName;
}

interface ReportSubject {
  name: string;
  page: 'insights' | 'dashboards';
  search: Record<string, string>;
}

/**
 * Returns a function that finds a subscription's insight or dashboard. The function returns null if the subscription
 * reports on the entire project.
 */
function useSubjects(subscriptions: readonly Subscription[]): (one: Subscription) => ReportSubject | null {
  const insights = useSubjectOptions(
    'insights',
    {},
    subscriptions.some(({ insight }) => insight !== null),
  );
  const dashboards = useSubjectOptions(
    'dashboards',
    {},
    subscriptions.some(({ dashboard }) => dashboard !== null),
  );
  return ({ insight, dashboard }): ReportSubject | null => {
    if (insight !== null) {
      const name = insights.data?.find(({ id }) => id === insight)?.name ?? text.ofInsight(insight);
      return { name, page: 'insights', search: { insight: String(insight) } };
    }
    if (dashboard === null) return null;
    const name = dashboards.data?.find(({ id }) => id === dashboard)?.name ?? text.ofDashboard(dashboard);
    return { name, page: 'dashboards', search: { dashboard: String(dashboard) } };
  };
}
