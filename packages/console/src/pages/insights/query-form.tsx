// The form for editing a query: its events or steps, filters, breakdown and date range.

import { escapeInvisible } from '../../event-detail/json-text.ts';
import { type DateRange, DateRangeFields, toRangeKey } from '../../filters/date-range.tsx';
import { FilterList } from '../../filters/filter-list.tsx';
import { useGroupTypes } from '../../filters/filter-options.ts';
import { NamePicker } from '../../filters/name-picker.tsx';
import { Select } from '../../filters/select.tsx';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { type Fields, type InsightQuery, toFields, toFieldsList } from '../../results/insight-query.ts';
import { FormPart, type PartProps, toText } from './fields.tsx';
import { QueryFilters } from './filters.tsx';
import { convertToKind, isKind, kinds, lacksProperty, propertyMaths, toSeriesLetter } from './query.ts';
import { text } from './words.ts';

interface FormProps extends Pick<PartProps, 'insightQuery' | 'problem'> {
  onQuery: (insightQuery: InsightQuery) => void;
}

export function QueryForm({ insightQuery, problem, onQuery }: FormProps) {
  const { kind } = insightQuery;
  const change = (fields: Fields) => onQuery({ ...insightQuery, ...fields });
  const props = { insightQuery, problem, change };
  if (!isKind(kind)) return <p className="quiet">{text.otherKindText}</p>;
  return (
    <form className="insight-fields" aria-label={text.form} onSubmit={(event) => event.preventDefault()}>
      <fieldset className="insight-part">
        <legend className="field-label">{text.insightType}</legend>
        <div className="choices">
          {kinds.map((one) => (
            <button
              key={one}
              type="button"
              className="button"
              aria-pressed={one === kind}
              onClick={() => one !== kind && onQuery(convertToKind(insightQuery, one))}
            >
              {text.kinds[one]}
            </button>
          ))}
        </div>
      </fieldset>
      {kind === 'RetentionQuery' ? <Retention {...props} /> : <Series {...props} />}
      {kind === 'FunnelsQuery' && <Funnel {...props} />}
      {kind !== 'TrendsQuery' && <Counted {...props} />}
      <QueryFilters {...props} />
      {kind !== 'LifecycleQuery' && kind !== 'RetentionQuery' && <Breakdown {...props} />}
      <Range {...props} />
    </form>
  );
}

const mathTextOf = (groupTypeName: string) => text.different(escapeInvisible(groupTypeName));

function Series({ insightQuery, problem, change }: PartProps) {
  const series = toFieldsList(insightQuery.series);
  const { kind } = insightQuery;
  const set = (at: number, fields: Fields) =>
    change({ series: series.map((one, other) => (other === at ? { ...one, ...fields } : one)) });
  const isTrend = kind === 'TrendsQuery';
  const groups = useGroupTypes();
  const maths = {
    ...text.maths,
    ...Object.fromEntries(groups.map((group) => [`unique_group ${group.index}`, mathTextOf(group.name)])),
  };
  const mathOf = ({ math, math_group_type_index: group }: Fields) =>
    math === 'unique_group' ? `unique_group ${group}` : toText(math) || 'total';
  const setMath = (at: number, chosen: string) => {
    const [math = '', group] = chosen.split(' ');
    set(at, {
      math,
      math_group_type_index: group === undefined ? undefined : Number(group),
      math_property: propertyMaths.has(math) ? (series[at]?.math_property ?? '') : undefined,
    });
  };
  const least = kind === 'FunnelsQuery' ? 2 : 1;
  const { formula } = toFields(insightQuery.trendsFilter);
  return (
    <FormPart
      title={kind === 'FunnelsQuery' ? text.steps : text.events}
      fields={['series', 'trendsFilter']}
      problem={problem}
    >
      {series.map((one, at) => {
        const letter = toSeriesLetter(at);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: an event has no ID other than its index
          <div key={at} className="insight-event">
            <div className="insight-line">
              <strong>{letter}</strong>
              <NamePicker
                label={text.event(letter)}
                hint={text.eventHint}
                of="events"
                empty={text.eventHint}
                value={toText(one.event)}
                onName={(name) => set(at, { event: name === '' ? null : name, name: name === '' ? undefined : name })}
              />
              {isTrend && (
                <Select
                  label={text.math(letter)}
                  value={mathOf(one)}
                  options={maths}
                  onChoose={(chosen) => setMath(at, chosen)}
                />
              )}
              {isTrend && propertyMaths.has(mathOf(one)) && (
                <NamePicker
                  label={text.mathProperty(letter)}
                  hint={text.mathPropertyHint}
                  of="event"
                  isInvalid={lacksProperty(one)}
                  autoFocus={lacksProperty(one)}
                  value={toText(one.math_property)}
                  onName={(name) => set(at, { math_property: name })}
                />
              )}
              {series.length > least && (
                <Button
                  look="plain"
                  aria-label={text.removeEvent(letter)}
                  onPress={() => change({ series: series.filter((_, other) => other !== at) })}
                >
                  <Icon name="close" size={11} />
                </Button>
              )}
            </div>
            {isTrend && lacksProperty(one) && <p className="hint">{text.mathPropertyMissing}</p>}
            <FilterList filters={one.properties} of={letter} onFilters={(properties) => set(at, { properties })} />
          </div>
        );
      })}
      {kind !== 'LifecycleQuery' && series.length < 26 && (
        <span>
          <Button
            onPress={() =>
              change({ series: [...series, { kind: 'EventsNode', event: null, ...(isTrend && { math: 'total' }) }] })
            }
          >
            {kind === 'FunnelsQuery' ? text.addStep : text.addEvent}
          </Button>
        </span>
      )}
      {isTrend && (series.length > 1 || formula !== undefined) && (
        <input
          className="input mono"
          aria-label={text.formula}
          placeholder={text.formulaHint}
          maxLength={400}
          value={toText(formula)}
          onChange={({ target }) =>
            change({
              trendsFilter: {
                ...toFields(insightQuery.trendsFilter),
                formula: target.value === '' ? undefined : target.value,
              },
            })
          }
        />
      )}
    </FormPart>
  );
}

function Funnel({ insightQuery, problem, change }: PartProps) {
  const filter = toFields(insightQuery.funnelsFilter);
  const set = (fields: Fields) => change({ funnelsFilter: { ...filter, ...fields } });
  return (
    <FormPart title={text.within} fields={['funnelsFilter']} problem={problem}>
      <div className="insight-line">
        <input
          className="input insight-number"
          type="number"
          min={1}
          max={1_000_000}
          aria-label={text.within}
          value={String(filter.funnelWindowInterval ?? 14)}
          onChange={({ target }) => set({ funnelWindowInterval: Number(target.value) })}
        />
        <Select
          label={text.unit}
          value={toText(filter.funnelWindowIntervalUnit) || 'day'}
          options={text.units}
          onChoose={(unit) => set({ funnelWindowIntervalUnit: unit })}
        />
        <Select
          label={text.order}
          value={toText(filter.funnelOrderType) || 'ordered'}
          options={text.orders}
          onChoose={(order) => set({ funnelOrderType: order })}
        />
      </div>
    </FormPart>
  );
}

function Retention({ insightQuery, problem, change }: PartProps) {
  const filter = toFields(insightQuery.retentionFilter);
  const set = (fields: Fields) => change({ retentionFilter: { ...filter, ...fields } });
  const entity = (name: 'targetEntity' | 'returningEntity', label: string) => (
    <div className="field">
      <span className="hint">{label}</span>
      <NamePicker
        label={label}
        hint={text.eventHint}
        of="events"
        empty={text.eventHint}
        value={toText(toFields(filter[name]).id)}
        onName={(event) =>
          set({ [name]: { ...toFields(filter[name]), id: event === '' ? null : event, type: 'events' } })
        }
      />
    </div>
  );
  return (
    <FormPart title={text.events} fields={['retentionFilter']} problem={problem}>
      {entity('targetEntity', text.target)}
      {entity('returningEntity', text.returning)}
      <div className="insight-line">
        <Select
          label={text.retentionType}
          value={toText(filter.retentionType) || 'retention_recurring'}
          options={text.retentionTypes}
          onChoose={(retentionType) => set({ retentionType })}
        />
        <Select
          label={text.period}
          value={toText(filter.period) || 'Day'}
          options={text.periods}
          onChoose={(period) => set({ period })}
        />
        <input
          className="input insight-number"
          type="number"
          min={1}
          max={100}
          aria-label={text.intervalsCount}
          value={String(filter.totalIntervals ?? 7)}
          onChange={({ target }) => set({ totalIntervals: Number(target.value) })}
        />
      </div>
    </FormPart>
  );
}

/** A field for the aggregation target of a funnel or retention query. In trends, each event has its own aggregation. */
function Counted({ insightQuery, problem, change }: PartProps) {
  const groups = useGroupTypes();
  const chosen = insightQuery.aggregation_group_type_index;
  if (groups.length === 0 && typeof chosen !== 'number') return null;
  return (
    <FormPart title={text.counted} fields={['aggregation_group_type_index']} problem={problem}>
      <div className="insight-line">
        <Select
          label={text.counted}
          value={typeof chosen === 'number' ? String(chosen) : ''}
          options={{
            '': text.persons,
            ...Object.fromEntries(groups.map(({ index, name }) => [String(index), escapeInvisible(name)])),
          }}
          onChoose={(index) => change({ aggregation_group_type_index: index === '' ? undefined : Number(index) })}
        />
      </div>
    </FormPart>
  );
}

function Breakdown({ insightQuery, problem, change }: PartProps) {
  const filter = toFields(insightQuery.breakdownFilter);
  const groups = useGroupTypes();
  const ofGroups = groups.map(({ index, name }) => [`group ${index}`, text.breakdownOfGroup(escapeInvisible(name))]);
  const { breakdown_type: stored, breakdown_group_type_index: group } = filter;
  const type =
    filter.breakdown === undefined ? 'none' : stored === 'group' ? `group ${group}` : toText(stored) || 'event';
  const choose = (chosen: string) => {
    const [of, index] = chosen.split(' ');
    const { breakdown_group_type_index: _, ...others } = filter;
    const breakdown = toText(filter.breakdown) || (of === 'event' ? '$browser' : '');
    set(
      of === 'none'
        ? undefined
        : {
            ...others,
            breakdown_type: of,
            breakdown,
            ...(index !== undefined && { breakdown_group_type_index: Number(index) }),
          },
    );
  };
  const set = (fields: Fields | undefined) => change({ breakdownFilter: fields });
  return (
    <FormPart title={text.breakdown} fields={['breakdownFilter']} problem={problem}>
      <div className="insight-line">
        <Select
          label={text.breakdown}
          value={type}
          options={{ ...text.breakdownType, ...Object.fromEntries(ofGroups) }}
          onChoose={choose}
        />
        {type !== 'none' && (
          <NamePicker
            label={text.breakdownProperty}
            hint={text.property}
            of={stored === 'person' || stored === 'group' ? stored : 'event'}
            groupType={typeof group === 'number' ? group : undefined}
            value={toText(filter.breakdown)}
            isInvalid={filter.breakdown === ''}
            autoFocus={filter.breakdown === ''}
            onName={(breakdown) => set({ ...filter, breakdown })}
          />
        )}
      </div>
    </FormPart>
  );
}

function Range({ insightQuery, problem, change }: PartProps) {
  const { kind } = insightQuery;
  const isRetention = kind === 'RetentionQuery';
  const { compare } = toFields(insightQuery.compareFilter);
  // A retention query does not have a date range. Its number of periods, which is next to the events in the form,
  // determines the range.
  if (isRetention && !problem.part.startsWith('dateRange')) return null;
  return (
    <FormPart title={text.range} fields={['dateRange', 'interval', 'compareFilter']} problem={problem}>
      {!isRetention && (
        <div className="insight-line">
          <DateRangeFields
            range={toFields(insightQuery.dateRange)}
            onRange={(dateRange) => change({ dateRange, ...intervalFor(insightQuery, dateRange) })}
          />
          {kind !== 'FunnelsQuery' && (
            <Select
              label={text.interval}
              value={toText(insightQuery.interval) || 'day'}
              options={text.intervals}
              onChoose={(interval) => change({ interval })}
            />
          )}
        </div>
      )}
      {kind === 'TrendsQuery' && (
        <label className="insight-check">
          <input
            type="checkbox"
            checked={compare === true}
            onChange={({ target }) => change({ compareFilter: target.checked ? { compare: true } : undefined })}
          />
          {text.compare}
        </label>
      )}
    </FormPart>
  );
}

/**
 * Returns the interval for a new date range: hours for about one day, days for a longer range. Other intervals are
 * kept.
 */
function intervalFor({ interval }: InsightQuery, range: DateRange): Fields {
  const isShort = ['dStart', '-1dStart|-1dEnd', '-24h'].includes(toRangeKey(range));
  if (isShort && (interval ?? 'day') === 'day') return { interval: 'hour' };
  return !isShort && interval === 'hour' ? { interval: 'day' } : {};
}
