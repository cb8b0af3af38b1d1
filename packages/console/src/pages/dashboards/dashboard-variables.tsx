import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { FormProblem } from '../../parts/form.tsx';
import { useRecordChange } from '../../records/change.ts';
import { findVariableNames, findVariableProblem, readSqlNode } from '../../sql/node.ts';
import { VariableFields } from '../../sql/variable-field.tsx';
import { getVariableValue, mergeVariableValues, useVariables, type VariableValues } from '../../sql/variables.ts';
import type { TileState } from './load.ts';
import type { Dashboard } from './shapes.ts';
import { text } from './words.ts';

/** Fields for the variables in the dashboard's SQL insights. Unsaved values apply only to the current user. */
export function DashboardVariables({
  dashboard,
  states,
  values,
  onValues,
}: {
  dashboard: Dashboard;
  states: readonly TileState[];
  values: VariableValues;
  onValues: (values: VariableValues) => void;
}) {
  const { id } = useProject();
  const sources = states.flatMap(({ tile }) => readSqlNode(tile.insight?.query)?.source ?? []);
  const names = new Set(sources.flatMap(({ query }) => findVariableNames(query)));
  const { data: all = [] } = useVariables(names.size > 0);
  const save = useRecordChange(() => onValues({}));
  const used = all.filter(({ code_name: name }) => names.has(name));
  if (used.length === 0) return null;
  // The tiles' queries already contain the dashboard's saved values. If two tiles have different values for a variable,
  // the first tile's value is shown.
  const saved = sources.reduceRight<VariableValues>(
    (found, { variables }) => mergeVariableValues(found, variables),
    {},
  );
  const problem = states.map(({ error }) => findVariableProblem(error)).find((one) => one !== null);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out in a line
    <div className="sql-variables" role="group" aria-label={text.variables}>
      <VariableFields
        variables={used.map((one) => ({ ...one, default_value: getVariableValue(one, saved).value }))}
        set={values}
        problem={problem ?? null}
        onValues={onValues}
      />
      {Object.keys(values).length > 0 && (
        <div className="sql-variables-save">
          <Button
            isDisabled={save.isPending || problem !== undefined}
            onPress={() =>
              save.mutate({
                method: 'PATCH',
                path: `/api/projects/${id}/dashboards/${dashboard.id}`,
                body: { variables: mergeVariableValues(dashboard.persisted_variables, values) },
              })
            }
          >
            {text.keep}
          </Button>
          <FormProblem problem={save.error} fields={[]} />
        </div>
      )}
    </div>
  );
}
