// The dialog for creating, changing and deleting variables of SQL queries.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { queryClient } from '../../api/queries.ts';
import { type ApiCall, ApiProblem, call } from '../../api/request.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { ValuesInput } from '../../filters/property-filter.tsx';
import { Select } from '../../filters/select.tsx';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCallButton, Dialog } from '../../parts/dialog.tsx';
import { Field, FormProblem } from '../../parts/form.tsx';
import { RequestDialog } from '../../parts/request-dialog.tsx';
import { explainError, QueryContent } from '../../parts/states.tsx';
import { useRecordChange } from '../../records/change.ts';
import { getInsightName } from '../../results/insight-query.ts';
import { formatForCopy } from '../../sql/columns.ts';
import { findVariableNames, readSqlNode } from '../../sql/node.ts';
import { ValueField } from '../../sql/variable-field.tsx';
import { toPlaceholder, useVariables, type Variable, type VariableType, variableTypes } from '../../sql/variables.ts';
import { words } from '../../words.ts';
import type { Insight } from '../insights/view.ts';
import { text as pageText } from './words.ts';

const text = pageText.variables;

/**
 * The content of the dialog: the list of variables, the form for a variable, or the confirmation before deleting one.
 */
export type OpenVariables =
  | 'list'
  /** The form for a variable. For a new variable, `edit` is null, and `name` is a suggested name. */
  | { edit: Variable | null; name?: string; isFromList?: boolean }
  | { remove: Variable; isFromList?: boolean };

export function VariablesDialog({
  open,
  onOpen,
  onInsert,
}: {
  open: OpenVariables;
  /** Changes the content of the dialog, or closes the dialog if `open` is null. */
  onOpen: (open: OpenVariables | null) => void;
  onInsert: (text: string) => void;
}) {
  if (open === 'list') return <List {...{ onOpen, onInsert }} />;
  const onClose = () => onOpen(open.isFromList ? 'list' : null);
  if ('remove' in open) return <RemoveVariable variable={open.remove} onClose={onClose} />;
  return (
    <VariableForm
      stored={open.edit}
      suggestion={open.name ?? ''}
      onClose={onClose}
      onRemove={(remove) => onOpen({ ...open, remove })}
    />
  );
}

function List({ onOpen, onInsert }: Pick<Parameters<typeof VariablesDialog>[0], 'onOpen' | 'onInsert'>) {
  const query = useVariables();
  const describe = ({ type, default_value: usual }: Variable) =>
    text.about(text.types[type], usual === null ? text.null : escapeInvisible(formatForCopy(usual)));
  return (
    <Dialog title={text.open} onClose={() => onOpen(null)}>
      <p className="quiet">{text.intro}</p>
      <QueryContent query={query} what={text.open}>
        {(variables) => (
          <ul className="sql-variable-list">
            {variables.map((variable) => (
              <li key={variable.id}>
                <span className="grow">
                  <strong translate="no">{escapeInvisible(variable.name)}</strong>
                  <code translate="no">{toPlaceholder(variable.code_name)}</code>
                  <span className="hint">{describe(variable)}</span>
                </span>
                <Button
                  aria-label={`${text.insert} ${escapeInvisible(variable.name)}`}
                  onPress={() => {
                    onOpen(null);
                    onInsert(toPlaceholder(variable.code_name));
                  }}
                >
                  {text.insert}
                </Button>
                <Button
                  aria-label={`${words.edit} ${escapeInvisible(variable.name)}`}
                  onPress={() => onOpen({ edit: variable, isFromList: true })}
                >
                  {words.edit}
                </Button>
              </li>
            ))}
          </ul>
        )}
      </QueryContent>
      <div className="form-buttons">
        <Button look="main" onPress={() => onOpen({ edit: null, isFromList: true })}>
          {text.make}
        </Button>
        <Button onPress={() => onOpen(null)}>{words.close}</Button>
      </div>
    </Dialog>
  );
}

/**
 * Changes a variable. All queries are checked again afterwards, because variables determine whether a query is valid.
 */
function useVariableChange(onDone: () => void) {
  const { id } = useProject();
  return useRecordChange(async () => {
    await queryClient.invalidateQueries({ queryKey: ['insight variables', id] });
    void queryClient.invalidateQueries({ queryKey: ['sql check', id] });
    onDone();
  });
}

const pathOf = (projectId: number, variable: Variable | null) =>
  `/api/projects/${projectId}/insight_variables${variable === null ? '' : `/${variable.id}`}`;

type FormFields = Omit<Variable, 'id' | 'code_name'>;

function VariableForm({
  stored,
  suggestion,
  onClose,
  onRemove,
}: {
  stored: Variable | null;
  suggestion: string;
  onClose: () => void;
  onRemove: (variable: Variable) => void;
}) {
  const { id } = useProject();
  const [{ name, type, default_value: usual, values }, setFields] = useState<FormFields>(
    stored ?? { name: suggestion, type: 'String', default_value: null, values: null },
  );
  const change = useVariableChange(onClose);
  const fields = { name, type, default_value: usual, values };
  const request: ApiCall = {
    method: stored === null ? 'POST' : 'PATCH',
    path: pathOf(id, stored),
    // An empty field is sent as null instead of an empty string, because queries can test for null.
    body: { ...fields, default_value: usual === '' ? null : usual },
  };
  return (
    <RequestDialog
      title={stored === null ? text.make : text.change}
      submit={stored === null ? text.make : pageText.save}
      request={request}
      change={change}
      fields={Object.keys(fields)}
      isComplete={name.trim() !== ''}
      onClose={onClose}
      below={
        stored && (
          <div className="form-buttons">
            <Button look="plain" onPress={() => onRemove(stored)}>
              <span className="bad">{text.remove}</span>
            </Button>
          </div>
        )
      }
    >
      <Field
        name="name"
        label={text.name}
        hint={stored === null ? text.nameHint : text.usedAs(toPlaceholder(stored.code_name))}
        maxLength={400}
        value={name}
        problem={change.error}
        autoFocus
        onChange={({ target }) => setFields({ ...fields, name: target.value })}
      />
      <TypeFields fields={fields} problem={change.error} onFields={setFields} />
    </RequestDialog>
  );
}

function TypeFields({
  fields,
  problem,
  onFields,
}: {
  fields: FormFields;
  problem: unknown;
  onFields: (fields: FormFields) => void;
}) {
  const { type, values, default_value: usual } = fields;
  const problemOf = (field: string) =>
    problem instanceof ApiProblem && problem.attr === field ? explainError(problem) : null;
  const wrongValues = problemOf('values');
  return (
    <>
      <div className="field">
        <span className="field-label" aria-hidden="true">
          {text.type}
        </span>
        <Select
          label={text.type}
          value={type}
          options={Object.fromEntries(variableTypes.map((one) => [one, text.types[one]]))}
          onChoose={(chosen) =>
            onFields({
              ...fields,
              type: chosen as VariableType,
              default_value: null,
              values: chosen === 'List' ? [] : null,
            })
          }
        />
      </div>
      {type === 'List' && (
        <div className="field">
          <span className="field-label" aria-hidden="true">
            {text.values}
          </span>
          <ValuesInput
            label={text.values}
            values={values ?? []}
            onChange={(next) => onFields({ ...fields, values: next as Variable['values'] })}
          />
          <span className={wrongValues ? 'bad' : 'hint'} role={wrongValues ? 'alert' : undefined}>
            {wrongValues ?? text.valuesHint}
          </span>
        </div>
      )}
      <ValueField
        label={text.usual}
        hint={text.usualHint}
        variable={{ type, values }}
        value={usual}
        wrong={problemOf('default_value')}
        onValue={(value) => onFields({ ...fields, default_value: value })}
      />
    </>
  );
}

function useInsightsWith({ code_name: name }: Variable) {
  const { id } = useProject();
  return useQuery({
    queryKey: ['insights', id, 'with variable', name],
    queryFn: async ({ signal }) => {
      const found: Insight[] = [];
      for (let offset = 0, isLast = false; !isLast; ) {
        const { next, results } = await call<{ next: string | null; results: Insight[] }>(
          { path: `/api/projects/${id}/insights`, query: { insight: 'SQL', basic: true, limit: 100, offset } },
          signal,
        );
        found.push(
          ...results.filter(({ query }) => findVariableNames(readSqlNode(query)?.source.query ?? '').includes(name)),
        );
        offset += results.length;
        isLast = next === null || results.length === 0;
      }
      return found;
    },
    staleTime: 0,
  });
}

function InsightsWith({ variable }: { variable: Variable }) {
  const { id } = useProject();
  const query = useInsightsWith(variable);
  return (
    <QueryContent query={query} what={text.insights}>
      {(insights) =>
        insights.length === 0 ? (
          <p>{text.noInsights}</p>
        ) : (
          <>
            <p>{text.usedBy(insights.length)}</p>
            <ul className="sql-variable-uses">
              {insights.map((insight) => (
                <li key={insight.id}>
                  <Link to={`/projects/${id}/insights`} search={{ insight: insight.short_id } as never}>
                    {escapeInvisible(getInsightName(insight))}
                  </Link>
                </li>
              ))}
            </ul>
          </>
        )
      }
    </QueryContent>
  );
}

function RemoveVariable({ variable, onClose }: { variable: Variable; onClose: () => void }) {
  const { id } = useProject();
  const remove = useVariableChange(onClose);
  const request = { method: 'DELETE', path: pathOf(id, variable) } as const;
  return (
    <Dialog title={text.removeTitle(escapeInvisible(variable.name))} onClose={onClose}>
      <p className="quiet">{text.removeText(toPlaceholder(variable.code_name))}</p>
      <InsightsWith variable={variable} />
      <FormProblem problem={remove.error} fields={[]} />
      <div className="form-buttons">
        <Button look="danger" isDisabled={remove.isPending} onPress={() => remove.mutate(request)}>
          {text.remove}
        </Button>
        <AsApiCallButton request={request} />
        <Button onPress={onClose}>{words.cancel}</Button>
      </div>
    </Dialog>
  );
}
