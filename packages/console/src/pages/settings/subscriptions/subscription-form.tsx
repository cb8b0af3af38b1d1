import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { meQuery, queryClient } from '../../../api/queries.ts';
import { type ApiCall, call } from '../../../api/request.ts';
import { useProject } from '../../../frame/project.ts';
import { Button } from '../../../parts/button.tsx';
import { Field, FormProblem } from '../../../parts/form.tsx';
import { fromLocalTime, toLocalTime } from '../../../parts/time.ts';
import { words } from '../../../words.ts';
import { SettingsBlock } from '../block.tsx';
import { RadioCards } from '../cards.tsx';
import { NoMail } from './no-mail.tsx';
import { ReportDialog } from './report.tsx';
import { type Draft, describeRule, newDraft, toDayFields, toDraft } from './rule.ts';
import { ScheduleFields } from './schedule-fields.tsx';
import { type Subject, SubjectFields, toSubjectFields } from './subject-fields.tsx';
import {
  isMasked,
  type Rule,
  type Subscription,
  subscriptionsKey,
  type TargetType,
  targetTypes,
  useSubscriptionsPath,
} from './subscription.ts';
import { text } from './words.ts';

const { form } = text;
const fields = [
  'insight',
  'dashboard',
  'dashboard_export_insights',
  'title',
  'target_value',
  'invite_message',
  'interval',
  'byweekday',
  'bysetpos',
  'start_date',
  'until_date',
  'count',
];

/** A form for creating a subscription, or for changing a subscription's title, recipients and schedule. */
export function SubscriptionForm({
  heading,
  before,
  type: chosenType = 'email',
  about: aboutBefore,
  onDone,
  onClose,
}: {
  heading: string;
  before: Subscription | undefined;
  type?: TargetType | undefined;
  /**
   * The insight or dashboard as an option value: `insight 12`, `dashboard 3`, or empty before the user has chosen one.
   */
  about: string;
  onDone: (now: Subscription) => unknown;
  onClose: () => void;
}) {
  const { id: projectId, timezone } = useProject();
  const path = useSubscriptionsPath();
  const [type, setType] = useState<TargetType>(before?.target_type ?? chosenType);
  const [draft, setDraft] = useState<Draft>(() => (before ? toDraft(before) : newDraft));
  const [first, setFirst] = useState(() =>
    before ? toLocalTime(new Date(before.start_date), timezone).slice(0, 16) : tomorrowAtNine(timezone),
  );
  const [subject, setSubject] = useState<Subject>({
    about: aboutBefore,
    insights: before?.dashboard_export_insights ?? [],
  });
  const [preview, setPreview] = useState<ApiCall | null>(null);
  const formElement = useRef<HTMLFormElement>(null);
  const save = useMutation({
    mutationFn: (body: object) =>
      call<Subscription>(
        before ? { method: 'PATCH', path: `${path}/${before.id}`, body } : { method: 'POST', path, body },
      ),
    onSuccess: async (now) => {
      await queryClient.invalidateQueries({ queryKey: subscriptionsKey(projectId) });
      await onDone(now);
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget);
    const rule = ruleOf(typed, { draft, first, before, timezone });
    save.mutate({
      ...toSubjectFields(subject.about),
      dashboard_export_insights: subject.insights,
      ...targetOf(typed, type),
      ...rule,
      ...(!before && { send_test_now: typed.has('send_test_now') }),
    });
  };
  return (
    <SettingsBlock title={heading} about={text.today}>
      <form className="form settings-form subscription-form" ref={formElement} onSubmit={submit}>
        <SubjectFields subject={subject} problem={save.error} onSubject={setSubject} />
        <Field
          name="title"
          label={form.title}
          hint={form.titleHint}
          maxLength={100}
          required={false}
          defaultValue={before?.title ?? ''}
          problem={save.error}
        />
        <TargetFields {...{ type, before }} problem={save.error} onType={setType} />
        <ScheduleFields
          draft={draft}
          onDraft={setDraft}
          first={first}
          onFirst={setFirst}
          before={before}
          problem={save.error}
        />
        <p className="note" aria-live="polite">
          <Summary draft={draft} first={first} before={before} />
        </p>
        {!before && (
          <label className="settings-choice">
            <input type="checkbox" name="send_test_now" defaultChecked />
            {form.sendFirst}
          </label>
        )}
        <FormProblem problem={save.error} fields={fields} />
        <div className="form-buttons">
          <Button type="submit" look="main" isDisabled={save.isPending}>
            {before ? form.save : form.create}
          </Button>
          <Button
            isDisabled={subject.about === ''}
            onPress={() => setPreview(previewOf(formElement.current, { path, subject }))}
          >
            {form.preview}
          </Button>
          <Button onPress={onClose}>{words.cancel}</Button>
        </div>
      </form>
      {preview !== null && (
        <ReportDialog
          title={form.preview}
          request={preview}
          next={{
            verb: before ? form.save : form.create,
            // Submit the form after the dialog has closed, because an open dialog prevents the form from focusing a
            // missing field.
            act: () => requestAnimationFrame(() => formElement.current?.requestSubmit()),
          }}
          onClose={() => setPreview(null)}
        />
      )}
    </SettingsBlock>
  );
}

/** Fields for the recipients. By default, a new email subscription is sent to the current user. */
function TargetFields({
  type,
  before,
  problem,
  onType,
}: {
  type: TargetType;
  before: Subscription | undefined;
  problem: unknown;
  onType: (type: TargetType) => void;
}) {
  const { data: me } = useQuery(meQuery);
  const storedTarget = before?.target_type === type ? before.target_value : '';
  const suggested = before === undefined && type === 'email' ? (me?.email ?? '') : storedTarget;
  return (
    <>
      <RadioCards
        name="target_type"
        legend={form.target}
        options={targetTypes.map((one) => ({ value: one, name: text.types[one], about: text.needs[one] }))}
        chosen={type}
        onChoose={onType}
      />
      {type === 'email' && <NoMail />}
      <Field
        key={type}
        name="target_value"
        label={form.values[type]}
        hint={isMasked(storedTarget) ? form.keepMasked : before ? form.newTargets : undefined}
        autoComplete="off"
        spellCheck={false}
        defaultValue={suggested}
        problem={problem}
      />
      <Field
        name="invite_message"
        label={form.message}
        hint={form.messageHint}
        maxLength={10_000}
        required={false}
        problem={problem}
      />
    </>
  );
}

function previewOf(
  element: HTMLFormElement | null,
  { path, subject: { about, insights } }: { path: string; subject: Subject },
): ApiCall {
  const typed = new FormData(element ?? undefined);
  const text = (name: string) => String(typed.get(name) ?? '').trim();
  const words = { title: text('title'), invite_message: text('invite_message') };
  const chosen = { dashboard_export_insights: insights.join(',') };
  return { path: `${path}/preview`, query: { ...toSubjectFields(about), ...chosen, ...words } };
}

function Summary({ draft, first, before }: { draft: Draft; first: string; before: Subscription | undefined }) {
  const { timezone } = useProject();
  const start = fromLocalTime(first, timezone);
  if (start === '') return null;
  const { frequency, interval } = draft;
  const days = { byweekday: before?.byweekday ?? null, bysetpos: before?.bysetpos ?? null, ...toDayFields(draft) };
  const rule = { frequency, interval: interval || 1, ...days, count: null, start_date: start, until_date: null };
  return <strong>{describeRule(rule, timezone)}</strong>;
}

const tomorrowAtNine = (zone: string) => `${toLocalTime(new Date(Date.now() + 86_400_000), zone).slice(0, 10)}T09:00`;

function targetOf(typed: FormData, type: TargetType) {
  const filled = (name: string) => String(typed.get(name) ?? '').trim() || null;
  const message = filled('invite_message');
  return {
    title: filled('title'),
    target_type: type,
    target_value: filled('target_value') ?? '',
    ...(message !== null && { invite_message: message }),
  };
}

/**
 * Returns the schedule in the API's format. Unchanged times are sent as they are stored, because the form fields do not
 * contain seconds.
 */
function ruleOf(
  typed: FormData,
  {
    draft,
    first,
    before,
    timezone,
  }: { draft: Draft; first: string; before: Subscription | undefined; timezone: string },
): Partial<Rule> {
  const toTimestamp = (local: string, stored: string | null | undefined) => {
    if (local === '') return null;
    const isUnchanged = stored != null && toLocalTime(new Date(stored), timezone).slice(0, 16) === local;
    return isUnchanged ? stored : fromLocalTime(local, timezone);
  };
  const count = String(typed.get('count') ?? '');
  return {
    frequency: draft.frequency,
    interval: draft.interval,
    ...toDayFields(draft),
    start_date: toTimestamp(first, before?.start_date) ?? '',
    until_date: toTimestamp(String(typed.get('until_date') ?? ''), before?.until_date),
    count: count === '' ? null : Number(count),
  };
}
