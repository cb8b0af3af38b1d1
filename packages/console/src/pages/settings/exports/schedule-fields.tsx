// The form fields for a batch export's schedule.

import { useProject } from '../../../frame/project.ts';
import { SuggestionList } from '../../../frame/suggestions.tsx';
import { Field } from '../../../parts/form.tsx';
import { zones } from '../../../parts/time.ts';
import type { BatchExport } from './export.ts';
import { type ExportSchedule, hasDays, type Interval, intervals } from './schedule.ts';
import { text } from './words.ts';

const { form } = text;
const hours = Array.from({ length: 24 }, (_, hour) => hour);
const daysFromMonday = [1, 2, 3, 4, 5, 6, 0];
const [midnight, monday] = [0, 1];

/** Fields for the interval between runs, and for the hour and weekday at which days and weeks begin. */
export function ScheduleFields({
  before,
  interval,
  problem,
  onInterval,
}: {
  before: BatchExport | undefined;
  interval: Interval;
  problem: unknown;
  onInterval: (interval: Interval) => void;
}) {
  const { timezone } = useProject();
  return (
    <div className="settings-pair">
      <label className="field">
        <span className="field-label">{form.interval}</span>
        <select
          className="input"
          name="interval"
          value={interval}
          onChange={({ target }) => onInterval(intervals.find((one) => one === target.value) ?? 'hour')}
        >
          {intervals.map((one) => (
            <option key={one} value={one}>
              {text.every[one]}
            </option>
          ))}
        </select>
        <span className="hint">{form.intervalHint}</span>
      </label>
      {hasDays(interval) && (
        <>
          {interval === 'week' && (
            <label className="field">
              <span className="field-label">{form.offsetDay}</span>
              <select className="input" name="offset_day" defaultValue={before?.offset_day ?? monday}>
                {daysFromMonday.map((day) => (
                  <option key={day} value={day}>
                    {text.weekday(day)}
                  </option>
                ))}
              </select>
            </label>
          )}
          <label className="field">
            <span className="field-label">{form.offsetHour}</span>
            <select className="input" name="offset_hour" defaultValue={before?.offset_hour ?? midnight}>
              {hours.map((hour) => (
                <option key={hour} value={hour}>
                  {text.hour(hour)}
                </option>
              ))}
            </select>
          </label>
          <Field
            name="timezone"
            label={form.timezone}
            hint={form.timezoneHint}
            list="export-zones"
            autoComplete="off"
            spellCheck={false}
            defaultValue={before?.timezone ?? timezone}
            problem={problem}
          />
          <SuggestionList id="export-zones" names={zones} />
        </>
      )}
    </div>
  );
}

/**
 * Returns the chosen schedule in the API's format. Omits an offset that was not set before and still equals the default
 * value.
 */
export function readSchedule(typed: FormData, before: BatchExport | undefined): Partial<ExportSchedule> {
  const interval = intervals.find((one) => one === typed.get('interval')) ?? 'hour';
  const offset = (name: 'offset_day' | 'offset_hour', usual: number) => {
    const chosen = typed.get(name);
    if (chosen === null || (Number(chosen) === usual && (before?.[name] ?? null) === null)) return null;
    return Number(chosen);
  };
  const timezone = typed.get('timezone');
  return {
    interval,
    ...(timezone !== null && { timezone: String(timezone).trim() }),
    offset_day: offset('offset_day', monday),
    offset_hour: offset('offset_hour', midnight),
  };
}
