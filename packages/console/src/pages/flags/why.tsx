import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/request.ts';
import { formatPersonSubtitle, formatPersonTitle } from '../../event-detail/person-name.tsx';
import { type Filter, formatFilterValue } from '../../filters/filter.ts';
import { useGroupTypes } from '../../filters/filter-options.ts';
import { useProject } from '../../frame/project.ts';
import { useSuggestions } from '../../frame/suggestions.tsx';
import { Button } from '../../parts/button.tsx';
import { QueryContent } from '../../parts/states.tsx';
import type { FlagsUrlState } from './address.ts';
import { type Condition, describeFilter, type Flag, getConditions } from './flag.ts';
import { useFlagSuggestions } from './flag-suggestions.ts';
import { text } from './words.ts';

interface Person {
  uuid: string;
  name: string;
  distinct_ids: string[];
  properties: Record<string, unknown>;
}
interface FilterExplanation {
  about: 'person' | 'group' | 'flag' | 'cohort' | 'nothing';
  source?: string;
  property?: string;
  outcome: unknown;
}
interface Explanation {
  holdout: { percentage: number; hash: number | null; is_held_out: boolean } | null;
  conditions: {
    outcome: string;
    filters: FilterExplanation[];
    rollout: { percentage: number; hash: number | null };
  }[];
  variant_hash: number | null;
}
interface Reason {
  value: boolean | string;
  evaluation: { reason: string; condition_index: number | null; description: string };
  explanation: Explanation | null;
}

/** Explains a flag's value for a person: the conditions in order, and the condition that decided the value. */
export function FlagExplanation({
  flag,
  address,
  isEdited,
}: {
  flag: Flag;
  address: FlagsUrlState;
  isEdited: boolean;
}) {
  const { id: projectId } = useProject();
  const { view, change } = address;
  const needed = useGroupTypes().filter(({ index }) =>
    getConditions(flag.filters).some((condition) => condition.aggregation_group_type_index === index),
  );
  const groups = Object.fromEntries(
    view.groups.map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)]),
  );
  const query = useQuery({
    queryKey: ['flags', projectId, 'why', view.person, groups],
    queryFn: ({ signal }) =>
      call<Record<string, Reason>>(
        {
          path: `/api/projects/${projectId}/feature_flags/evaluation_reasons`,
          query: { distinct_id: view.person, ...(view.groups.length > 0 && { groups: JSON.stringify(groups) }) },
        },
        signal,
      ),
    enabled: view.person !== '',
  });
  const person = useQuery({
    queryKey: ['persons', projectId, 'of id', view.person],
    queryFn: async ({ signal }) => {
      const { results } = await call<{ results: Person[] }>(
        { path: `/api/projects/${projectId}/persons`, query: { distinct_id: view.person, limit: 1 } },
        signal,
      );
      return results[0] ?? null;
    },
    enabled: view.person !== '',
  });
  return (
    <div className="flag-section">
      <PersonChoice
        key={view.person}
        chosen={view.person}
        person={person.data}
        onChoose={(id) => change({ person: id })}
      />
      {needed.map(({ index, name }) => (
        <form
          key={`${index} ${groups[name] ?? ''}`}
          className="flag-ask"
          action={(input) => {
            const key = String(input.get('key') ?? '').trim();
            const others = view.groups.filter((one) => !one.startsWith(`${name}=`));
            change({ groups: key === '' ? others : [...others, `${name}=${key}`] });
          }}
        >
          <label className="field grow">
            <span className="field-label">{text.why.groupKey(name)}</span>
            <input className="input mono" name="key" defaultValue={groups[name] ?? ''} />
          </label>
          <Button type="submit">{text.why.ask}</Button>
        </form>
      ))}
      {isEdited && <p className="warn">{text.why.stateOfSaved}</p>}
      {view.person === '' ? (
        <div className="state flag-why-empty" data-state="empty">
          <h2>{text.why.askTitle}</h2>
          <p className="quiet">{text.why.askText}</p>
        </div>
      ) : (
        <QueryContent query={query} what={text.tabs.why}>
          {(reasons) => {
            const reason = reasons[flag.key];
            return reason === undefined ? null : (
              <EvaluationResult flag={flag} reason={reason} person={person.data ?? null} />
            );
          }}
        </QueryContent>
      )}
    </div>
  );
}

/**
 * A field for finding a person by email address, name or distinct ID. Input that does not match a person is used as a
 * distinct ID.
 */
function PersonChoice({
  chosen,
  person,
  onChoose,
}: {
  chosen: string;
  person: Person | null | undefined;
  onChoose: (distinctId: string) => void;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  const shown = typed ?? (person ? formatPersonTitle(person) : chosen);
  const isSearching = typed !== null && typed.trim() !== '';
  const found = useSuggestions(
    'persons',
    { search: typed?.trim() ?? '', limit: 6 },
    { isNeeded: isSearching, items: ({ results }: { results: Person[] }) => results },
  );
  const take = () => {
    const text = (typed ?? chosen).trim();
    const exact = found.find(
      (one) => one.name === text || formatPersonTitle(one) === text || one.distinct_ids.includes(text),
    );
    const [only] = found;
    const match = exact ?? (found.length === 1 ? only : undefined);
    if (text !== '') onChoose(match && !match.distinct_ids.includes(text) ? (match.distinct_ids[0] ?? text) : text);
  };
  return (
    <form className="flag-person" action={take}>
      <div className="flag-ask">
        <label className="field grow">
          <span className="field-label">{text.why.person}</span>
          <input
            className="input"
            type="search"
            maxLength={400}
            placeholder={text.why.personHint}
            value={shown}
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
        <Button type="submit">{text.why.ask}</Button>
      </div>
      {isSearching && found.length > 0 && (
        <ul className="flag-matches" aria-label={text.why.matches}>
          {found.map((one) => (
            <li key={one.uuid}>
              <button type="button" className="menu-item" onClick={() => onChoose(one.distinct_ids[0] ?? '')}>
                {formatPersonTitle(one)} <span className="quiet">{formatPersonSubtitle(one)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {!isSearching && chosen !== '' && (
        <p className="hint">
          {person === null ? text.why.unknownPerson : <span className="mono">{text.why.chosen(chosen)}</span>}
        </p>
      )}
    </form>
  );
}

function EvaluationResult({ flag, reason, person }: { flag: Flag; reason: Reason; person: Person | null }) {
  const { value, evaluation, explanation } = reason;
  const isOn = value !== false;
  const decided = decidingCondition(flag, reason);
  const because =
    text.why.reasons[evaluation.reason] ??
    (decided === null ? text.why.decidedByNone : text.why.decidedBy(decided + 1));
  return (
    <>
      <p className="flag-verdict" role="status">
        <span className={isOn ? 'pill pill-good' : 'pill'}>
          {isOn && <span className="dot" />}
          {text.why.gets} <strong className="mono">{String(value)}</strong>
        </span>
        <span className="quiet">{because}</span>
      </p>
      {explanation?.holdout?.is_held_out && <p className="quiet">{text.why.holdout(explanation.holdout.percentage)}</p>}
      <ol className="flag-reasons">
        {getConditions(flag.filters).map((condition, at) => (
          <OneReason
            // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no ID other than their index
            key={at}
            number={at + 1}
            condition={condition}
            explained={explanation?.conditions[at]}
            isDeciding={decided === at}
            isReached={explanation !== null && isReached(evaluation.reason, decided, at)}
            person={person}
          />
        ))}
      </ol>
      {isOn && typeof explanation?.variant_hash === 'number' && (
        <p className="hint">{text.why.variantHash(explanation.variant_hash.toFixed(4))}</p>
      )}
    </>
  );
}

/**
 * Returns the index of the condition that decided the value: the condition that matched the person or, with
 * `early_exit`, the condition that excluded the person.
 */
function decidingCondition({ filters }: Flag, { evaluation }: Reason): number | null {
  const { reason, condition_index: index } = evaluation;
  if (reason === 'condition_match') return index;
  return reason === 'out_of_rollout_bound' && filters.early_exit === true ? index : null;
}

function isReached(reason: string, decided: number | null, at: number): boolean {
  if (reason === 'super_condition_value' || reason === 'holdout_condition_value') return false;
  return decided === null || at <= decided;
}

interface ReasonProps {
  number: number;
  condition: Condition;
  explained: Explanation['conditions'][number] | undefined;
  isDeciding: boolean;
  isReached: boolean;
  person: Person | null;
}

function OneReason({ number, condition, explained, isDeciding, isReached, person }: ReasonProps) {
  const { keyOf } = useFlagSuggestions();
  const filters = condition.properties ?? [];
  const everyoneLabel = typeof condition.aggregation_group_type_index === 'number' ? text.everyGroup : text.everyone;
  const isMatch = explained?.outcome === 'match';
  const verdict = !isReached
    ? text.why.notReached
    : isMatch
      ? text.why.yes
      : explained?.outcome === 'out_of_rollout_bound'
        ? text.why.outOfRollout
        : text.why.no;
  return (
    <li
      className="flag-reason"
      {...(isDeciding && { 'data-deciding': '' })}
      {...(!isReached && { 'data-unreached': '' })}
    >
      <div className="flag-reason-head">
        <strong>{number}</strong>
        <span className="grow">
          {filters.length === 0 ? everyoneLabel : filters.map((filter) => describeFilter(filter, keyOf)).join(text.and)}{' '}
          · <span className="mono">{condition.rollout_percentage ?? 100}%</span>
        </span>
        <span className={isMatch && isReached ? 'good' : 'quiet'}>{verdict}</span>
      </div>
      {isReached && explained && (
        <ul className="flag-facts quiet">
          {inOrder(filters).map((filter, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: filters have no ID other than their index
            <li key={at}>
              <Fact filter={filter} explained={explained.filters[at]} person={person} />
            </li>
          ))}
          <li>{hashText(explained)}</li>
        </ul>
      )}
    </li>
  );
}

/** Sorts filters for the explanation. Cohort filters come last, because their evaluation is the most expensive. */
function inOrder(filters: readonly Filter[]): Filter[] {
  return [...filters.filter(({ type }) => type !== 'cohort'), ...filters.filter(({ type }) => type === 'cohort')];
}

function Fact({
  filter,
  explained,
  person,
}: {
  filter: Filter;
  explained: FilterExplanation | undefined;
  person: Person | null;
}) {
  const { keyOf } = useFlagSuggestions();
  if (explained === undefined) return null;
  const mark = explained.outcome === true ? '✓' : '✗';
  const outcome = explained.outcome === true ? text.why.yes : text.why.no;
  return (
    <>
      <span className={explained.outcome === true ? 'good' : 'bad'} aria-hidden="true">
        {mark}{' '}
      </span>
      <span className="only-heard">{outcome}: </span>
      {explained.about === 'cohort' || explained.about === 'flag'
        ? `${describeFilter(filter, keyOf)}: ${outcome}`
        : sourceText(filter, explained, person)}
    </>
  );
}

function sourceText(
  filter: Filter,
  { about, source = '', property = filter.key }: FilterExplanation,
  person: Person | null,
) {
  const where = text.why.sources[source] ?? source;
  const value = about === 'person' && source === 'stored' ? person?.properties[property] : undefined;
  return value === undefined
    ? text.why.unknownValue(property, where)
    : text.why.theirs(property, formatFilterValue(value), where);
}

function hashText({ rollout: { percentage, hash } }: Explanation['conditions'][number]): string {
  if (hash === null) return text.why.noHash;
  const bound = percentage / 100;
  return text.why.hash(hash.toFixed(4), bound.toFixed(2), hash <= bound);
}
