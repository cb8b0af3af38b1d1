// The form fields for a report schedule.

import { useProject } from '../../../frame/project.ts';
import { Field } from '../../../parts/form.tsx';
import { toLocalTime } from '../../../parts/time.ts';
import { type DayGroup, type Draft, dayGroups, listPositions } from './rule.ts';
import { frequencies, type Subscription, weekdays } from './subscription.ts';
import { text } from './words.ts';

const { form } = text;

export function ScheduleFields({
  draft,
  onDraft,
  first,
  onFirst,
  before,
  problem,
}: {
  draft: Draft;
  onDraft: (draft: Draft) => void;
  first: string;
  onFirst: (local: string) => void;
  before: Subscription | undefined;
  problem: unknown;
}) {
  const { timezone } = useProject();
  const until = before?.until_date ? toLocalTime(new Date(before.until_date), timezone).slice(0, 16) : '';
  return (
    <fieldset className="settings-fieldset">
      <legend className="field-label">{form.when}</legend>
      <div className="subscription-every">
        <Field
          name="interval"
          label={form.every}
          type="number"
          min={1}
          max={1000}
          value={draft.interval || ''}
          onChange={({ target }) => onDraft({ ...draft, interval: Number(target.value) })}
          problem={problem}
        />
        <label className="field">
          <span className="field-label">{form.unit}</span>
          <select
            className="input"
            value={draft.frequency}
            onChange={({ target }) => {
              const frequency = frequencies.find((one) => one === target.value) ?? 'weekly';
              onDraft({ ...draft, frequency, position: 'date', days: [] });
            }}
          >
            {frequencies.map((frequency) => (
              <option key={frequency} value={frequency}>
                {form.units[frequency]}
              </option>
            ))}
          </select>
        </label>
        {(draft.frequency === 'monthly' || draft.frequency === 'yearly') && (
          <PositionFields draft={draft} onDraft={onDraft} />
        )}
      </div>
      {draft.frequency === 'monthly' && draft.position === 'date' && dayOf(first) > 28 && (
        <p className="hint">{form.lastDayHint(dayOf(first))}</p>
      )}
      {(draft.frequency === 'daily' || draft.frequency === 'weekly') && <DayFields draft={draft} onDraft={onDraft} />}
      <div className="settings-pair">
        <Field
          name="start_date"
          label={form.first}
          hint={form.firstHint(timezone)}
          type="datetime-local"
          value={first}
          onChange={({ target }) => onFirst(target.value)}
          problem={problem}
        />
        <Field
          name="until_date"
          label={form.until}
          hint={form.untilHint}
          type="datetime-local"
          required={false}
          defaultValue={until}
          problem={problem}
        />
        <Field
          name="count"
          label={form.count}
          hint={form.countHint}
          type="number"
          min={1}
          required={false}
          defaultValue={before?.count ?? ''}
          problem={problem}
        />
      </div>
    </fieldset>
  );
}

/** Returns the day of the month from a local time such as `2026-11-30T09:00`. */
const dayOf = (local: string) => Number(local.slice(8, 10));

function DayFields({ draft, onDraft }: { draft: Draft; onDraft: (draft: Draft) => void }) {
  const name = draft.frequency === 'daily' ? 'daily' : 'weekly';
  return (
    <fieldset className="settings-fieldset">
      <legend className="field-label">{form.days[name]}</legend>
      <div className="settings-choices">
        {weekdays.map((day) => (
          <label key={day} className="settings-choice">
            <input
              type="checkbox"
              checked={draft.days.includes(day)}
              onChange={({ target }) => {
                const chosen = weekdays.filter((one) => (one === day ? target.checked : draft.days.includes(one)));
                onDraft({ ...draft, days: chosen, position: 'date' });
              }}
            />
            {text.weekdays[day]}
          </label>
        ))}
      </div>
      <span className="hint">{form.daysHint[name]}</span>
    </fieldset>
  );
}

function PositionFields({ draft, onDraft }: { draft: Draft; onDraft: (draft: Draft) => void }) {
  const positions = listPositions(draft.frequency);
  const known = draft.position === 'kept' ? (['kept', ...positions] as const) : positions;
  return (
    <>
      <label className="field">
        <span className="field-label">{form.position}</span>
        <select
          className="input"
          value={draft.position}
          onChange={({ target }) => {
            const position = known.find((one) => one === target.value) ?? 'date';
            onDraft({ ...draft, position });
          }}
        >
          {known.map((position) => (
            <option key={position} value={position}>
              {form.positions[position]}
            </option>
          ))}
        </select>
      </label>
      {!['date', 'end', 'kept'].includes(draft.position) && (
        <label className="field">
          <span className="field-label">{form.day}</span>
          <select
            className="input"
            value={draft.group}
            onChange={({ target }) => {
              const group: DayGroup = dayGroups.find((one) => one === target.value) ?? 'monday';
              onDraft({ ...draft, group });
            }}
          >
            {dayGroups.map((group) => (
              <option key={group} value={group}>
                {group === 'day' || group === 'workday' ? text.groups[group] : text.weekdays[group]}
              </option>
            ))}
          </select>
        </label>
      )}
    </>
  );
}
