// The form fields for choosing the insight or dashboard that a subscription reports on.

import { useId } from 'react';
import { ApiProblem } from '../../../api/request.ts';
import { explainError } from '../../../parts/states.tsx';
import { useSubjectOptions } from '../offered.ts';
import { text } from './words.ts';

const { form } = text;

/** The insight or dashboard that a subscription reports on, and the dashboard's insights that the report includes. */
export interface Subject {
  /**
   * The insight or dashboard as an option value: `insight 12`, `dashboard 3`, or empty before the user has chosen one.
   */
  about: string;
  insights: readonly number[];
}

export function SubjectFields({
  subject: { about, insights },
  problem,
  onSubject,
}: {
  subject: Subject;
  problem: unknown;
  onSubject: (subject: Subject) => void;
}) {
  const { dashboard } = toSubjectFields(about);
  return (
    <>
      <AboutField value={about} problem={problem} onChoose={(chosen) => onSubject({ about: chosen, insights: [] })} />
      {dashboard !== null && (
        <InsightsField
          dashboard={dashboard}
          chosen={insights}
          problem={problem}
          onChoose={(chosen) => onSubject({ about, insights: chosen })}
        />
      )}
    </>
  );
}

/** Converts an option value, such as `insight 12`, to API fields. */
export function toSubjectFields(about: string): { insight: number | null; dashboard: number | null } {
  const [kind, id] = about.split(' ');
  return { insight: kind === 'insight' ? Number(id) : null, dashboard: kind === 'dashboard' ? Number(id) : null };
}

function AboutField({
  value,
  problem,
  onChoose,
}: {
  value: string;
  problem: unknown;
  onChoose: (about: string) => void;
}) {
  const id = useId();
  const dashboards = useSubjectOptions('dashboards');
  const insights = useSubjectOptions('insights');
  const groups = [
    { kind: 'dashboard', label: form.dashboards, rows: dashboards.data ?? [] },
    { kind: 'insight', label: form.insights, rows: insights.data ?? [] },
  ];
  const isOffered = groups.some(({ kind, rows }) => rows.some((row) => `${kind} ${row.id}` === value));
  const wrong = problem instanceof ApiProblem && ['insight', 'dashboard'].includes(problem.attr ?? '');
  const notLoaded = dashboards.error ?? insights.error;
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {form.about}
      </label>
      <select
        className="input"
        id={id}
        value={value}
        aria-invalid={wrong}
        aria-describedby={`${id}-more`}
        onChange={({ target }) => onChoose(target.value)}
      >
        <option value="">{form.project}</option>
        {value !== '' && !isOffered && <option value={value}>{value}</option>}
        {groups.map(({ kind, label, rows }) => (
          <optgroup key={kind} label={label}>
            {rows.map((row) => (
              <option key={row.id} value={`${kind} ${row.id}`}>
                {row.name}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
      <span id={`${id}-more`} className={wrong ? 'bad' : 'hint'} role={wrong ? 'alert' : undefined}>
        {wrong ? explainError(problem) : form.aboutHint}
      </span>
      {notLoaded && (
        <p className="bad" role="alert">
          {form.notOffered(explainError(notLoaded))}
        </p>
      )}
    </div>
  );
}

function InsightsField({
  dashboard,
  chosen,
  problem,
  onChoose,
}: {
  dashboard: number;
  chosen: readonly number[];
  problem: unknown;
  onChoose: (insights: number[]) => void;
}) {
  const { data: offered = [], error } = useSubjectOptions('insights', { dashboards: `[${dashboard}]` });
  // Also list insights that were removed from the dashboard, so that the user can deselect them.
  const others = chosen
    .filter((id) => !offered.some((one) => one.id === id))
    .map((id) => ({ id, name: text.ofInsight(id) }));
  const isWrong = problem instanceof ApiProblem && problem.attr?.startsWith('dashboard_export_insights') === true;
  return (
    <fieldset className="settings-fieldset">
      <legend className="field-label">{form.chosenInsights}</legend>
      <div className="settings-choices">
        {[...offered, ...others].map(({ id, name }) => (
          <label key={id} className="settings-choice">
            <input
              type="checkbox"
              checked={chosen.includes(id)}
              onChange={({ target }) =>
                onChoose(target.checked ? [...chosen, id] : chosen.filter((other) => other !== id))
              }
            />
            {name}
          </label>
        ))}
      </div>
      <span className="hint">{form.chosenInsightsHint}</span>
      {isWrong && (
        <p className="bad" role="alert">
          {explainError(problem)}
        </p>
      )}
      {error && (
        <p className="bad" role="alert">
          {form.notOffered(explainError(error))}
        </p>
      )}
    </fieldset>
  );
}
