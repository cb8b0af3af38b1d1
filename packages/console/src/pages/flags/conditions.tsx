// The form fields for a flag's release conditions, which determine who receives the flag.

import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { call } from '../../api/request.ts';
import type { Filter } from '../../filters/filter.ts';
import { type GroupType, useGroupTypes } from '../../filters/filter-options.ts';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { explainError } from '../../parts/states.tsx';
import { formatNumber } from '../../words.ts';
import { FilterFields } from './filter-fields.tsx';
import { type Condition, type Draft, newLocalId } from './flag.ts';
import { text } from './words.ts';

const { form } = text;

type OneCondition = Draft['conditions'][number];

/**
 * A server error about a release condition. The indexes of the condition and filter are null if the error does not name
 * them.
 */
export interface ConditionProblem {
  condition: number | null;
  filter: number | null;
  message: string;
}

export function ReleaseConditions({
  conditions,
  variants,
  problem,
  onChange,
}: {
  conditions: Draft['conditions'];
  variants: Draft['variants'];
  problem: ConditionProblem | null;
  onChange: (conditions: Draft['conditions']) => void;
}) {
  const groupTypes = useGroupTypes();
  const move = (from: number, to: number) => {
    const next = [...conditions];
    next.splice(to, 0, ...next.splice(from, 1));
    onChange(next);
  };
  return (
    <div className="flag-conditions">
      {conditions.map((condition, at) => (
        <fieldset
          key={condition.local}
          className="flag-condition"
          {...(problem?.condition === at && { 'data-bad': '' })}
        >
          <legend className="only-heard">{form.condition(at + 1)}</legend>
          <div className="flag-condition-head">
            <strong aria-hidden="true">{at + 1}</strong>
            <GroupChoice
              condition={condition}
              groupTypes={groupTypes}
              onChange={(to) => onChange(conditions.with(at, to))}
            />
            <span className="grow" />
            <Small label={form.up(at + 1)} isDisabled={at === 0} onPress={() => move(at, at - 1)}>
              ↑
            </Small>
            <Small label={form.down(at + 1)} isDisabled={at === conditions.length - 1} onPress={() => move(at, at + 1)}>
              ↓
            </Small>
            <Small
              label={form.removeCondition(at + 1)}
              isDisabled={conditions.length === 1}
              onPress={() => onChange(conditions.toSpliced(at, 1))}
            >
              <Icon name="close" size={11} />
            </Small>
          </div>
          <OneCondition
            condition={condition}
            number={at + 1}
            variants={variants}
            problem={problem?.condition === at ? problem : null}
            onChange={(changed) => onChange(conditions.with(at, changed))}
          />
        </fieldset>
      ))}
      <div className="form-buttons">
        <Button
          onPress={() => onChange([...conditions, { properties: [], rollout_percentage: 100, local: newLocalId() }])}
        >
          {form.addCondition}
        </Button>
      </div>
    </div>
  );
}

function Small({
  label,
  isDisabled = false,
  onPress,
  children,
}: {
  label: string;
  isDisabled?: boolean;
  onPress: () => void;
  children: ReactNode;
}) {
  return (
    <Button look="plain" aria-label={label} isDisabled={isDisabled} onPress={onPress}>
      {children}
    </Button>
  );
}

function GroupChoice({
  condition,
  groupTypes,
  onChange,
}: {
  condition: OneCondition;
  groupTypes: readonly GroupType[];
  onChange: (condition: OneCondition) => void;
}) {
  const chosen = condition.aggregation_group_type_index ?? null;
  if (groupTypes.length === 0 && chosen === null) return null;
  // Changing the aggregation target also changes the filters, because a condition applies either to persons or to one
  // group type.
  const choose = (value: string) => {
    const index = value === '' ? null : Number(value);
    const properties = condition.properties?.map(({ group_type_index: _, ...filter }) =>
      filter.type === 'person' || filter.type === 'group'
        ? {
            ...filter,
            ...(index === null ? { type: 'person' as const } : { type: 'group' as const, group_type_index: index }),
          }
        : filter,
    );
    onChange({ ...condition, aggregation_group_type_index: index, ...(properties && { properties }) });
  };
  return (
    <label className="flag-inline">
      <span className="quiet">{form.of}</span>
      <select className="input" value={chosen ?? ''} onChange={(event) => choose(event.target.value)}>
        <option value="">{form.persons}</option>
        {groupTypes.map(({ index, name }) => (
          <option key={index} value={index}>
            {form.groupsOf(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

function OneCondition({
  condition,
  number,
  variants,
  problem,
  onChange,
}: {
  condition: OneCondition;
  number: number;
  variants: Draft['variants'];
  problem: ConditionProblem | null;
  onChange: (condition: OneCondition) => void;
}) {
  const filters = condition.properties ?? [];
  const [added, setAdded] = useState<number | null>(null);
  const groupType = condition.aggregation_group_type_index ?? null;
  const rollout = condition.rollout_percentage ?? 100;
  const setFilters = (properties: Filter[]) => onChange({ ...condition, properties });
  const property: Filter =
    groupType === null
      ? { type: 'person', key: '', operator: 'exact', value: [] }
      : { type: 'group', group_type_index: groupType, key: '', operator: 'exact', value: [] };
  return (
    <>
      {filters.length === 0 && <p className="quiet">{groupType === null ? text.everyone : text.everyGroup}</p>}
      {filters.map((filter, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: filters are only appended and removed
        <div key={at}>
          <div className="filter-fields">
            <FilterFields
              filter={filter}
              isNew={at === added}
              onChange={(changed) => setFilters(filters.with(at, changed))}
            />
            <Small label={`${form.removeFilter} ${at + 1}`} onPress={() => setFilters(filters.toSpliced(at, 1))}>
              <Icon name="close" size={11} />
            </Small>
          </div>
          {problem?.filter === at && (
            <p className="bad" role="alert">
              {problem.message}
            </p>
          )}
        </div>
      ))}
      <div className="form-buttons">
        <span className="quiet">{form.add}</span>
        <Button
          look="plain"
          onPress={() => {
            setAdded(filters.length);
            setFilters([...filters, property]);
          }}
        >
          + {form.addProperty}
        </Button>
        {groupType === null && (
          <>
            <Button
              look="plain"
              onPress={() => setFilters([...filters, { type: 'cohort', key: 'id', operator: 'in', value: null }])}
            >
              + {form.addCohort}
            </Button>
            <Button
              look="plain"
              onPress={() =>
                setFilters([...filters, { type: 'flag', key: '', operator: 'flag_evaluates_to', value: true }])
              }
            >
              + {form.addFlag}
            </Button>
          </>
        )}
      </div>
      <div className="flag-rollout">
        <span className="quiet">{form.rollout}</span>
        <input
          type="range"
          min={0}
          max={100}
          value={rollout}
          aria-label={form.rolloutOf(number)}
          onChange={(event) => onChange({ ...condition, rollout_percentage: Number(event.target.value) })}
        />
        <input
          className="input mono"
          type="number"
          min={0}
          max={100}
          step="any"
          value={rollout}
          aria-label={form.rolloutOf(number)}
          onChange={(event) => onChange({ ...condition, rollout_percentage: Number(event.target.value) })}
        />
        <span className="quiet">%</span>
      </div>
      {variants.length > 0 && (
        <label className="flag-inline">
          <span className="quiet">{form.gets}</span>
          <select
            className="input"
            value={condition.variant ?? ''}
            onChange={(event) => onChange({ ...condition, variant: event.target.value || null })}
          >
            <option value="">{form.byShare}</option>
            {variants.map(({ local, key }) => (
              <option key={local}>{key}</option>
            ))}
          </select>
        </label>
      )}
      <Reach condition={condition} />
      {problem !== null && problem.filter === null && (
        <p className="bad" role="alert">
          {problem.message}
        </p>
      )}
    </>
  );
}

/**
 * Shows how many persons match a condition. The number is computed only on request, because the server must evaluate
 * every person.
 */
function Reach({ condition: { local, ...condition } }: { condition: OneCondition }) {
  const { id } = useProject();
  const body: { condition: Condition; group_type_index: number | null } = {
    condition,
    group_type_index: condition.aggregation_group_type_index ?? null,
  };
  const bodyJson = JSON.stringify(body);
  const count = useMutation({
    mutationFn: async () => ({
      bodyJson,
      reach: await call<{ users_affected: number; total_users: number; is_estimate: boolean }>({
        method: 'POST',
        path: `/api/projects/${id}/feature_flags/user_blast_radius`,
        body,
      }),
    }),
  });
  const reach = count.data?.bodyJson === bodyJson ? count.data.reach : null;
  return (
    <div className="form-buttons">
      <Button look="plain" isDisabled={count.isPending} onPress={() => count.mutate()}>
        {count.isPending ? form.counting : form.reach}
      </Button>
      <span role="status" className={count.error ? 'bad' : 'quiet'}>
        {count.error
          ? explainError(count.error)
          : reach &&
            form.reaches(formatNumber(reach.users_affected), formatNumber(reach.total_users), reach.is_estimate)}
      </span>
    </div>
  );
}
