import { escapeInvisible } from '../../event-detail/json-text.ts';
import { Button } from '../../parts/button.tsx';
import { findVariableNames, type SqlNode, type VariableProblem } from '../../sql/node.ts';
import { VariableFields } from '../../sql/variable-field.tsx';
import { replaceVariables, toPlaceholder, useVariables } from '../../sql/variables.ts';
import { words } from '../../words.ts';
import type { OpenVariables } from './variables-dialog.tsx';
import { text } from './words.ts';

/** Fields for the query's variable values. Pressing Enter in a field runs the query. */
export function VariableBar({
  node,
  problem,
  onNode,
  onRun,
  onOpen,
}: {
  node: SqlNode;
  problem: VariableProblem | null;
  onNode: (node: SqlNode) => void;
  onRun: () => void;
  onOpen: (dialog: OpenVariables) => void;
}) {
  const names = findVariableNames(node.source.query);
  const { data: all } = useVariables(names.length > 0);
  if (names.length === 0 || all === undefined) return null;
  const used = names.flatMap((name) => all.find(({ code_name: one }) => one === name) ?? []);
  const missing = names.filter((name) => !all.some(({ code_name: one }) => one === name));
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out in a line
    <div
      className="sql-bar sql-variables"
      role="group"
      aria-label={text.variables.group}
      onKeyDown={({ key, target }) => key === 'Enter' && target instanceof HTMLInputElement && onRun()}
    >
      <VariableFields
        variables={used}
        set={node.source.variables}
        problem={problem}
        onValues={(values) => onNode({ ...node, source: replaceVariables(node.source, values) })}
        more={(variable) => (
          <Button
            look="plain"
            aria-label={`${words.edit} ${escapeInvisible(variable.name)}`}
            onPress={() => onOpen({ edit: variable })}
          >
            {words.edit}
          </Button>
        )}
      />
      {missing.map((name) => (
        <div className="sql-variable field" key={name}>
          <code className="cut" translate="no">
            {escapeInvisible(toPlaceholder(name))}
          </code>
          <span className="bad">{text.variables.missing}</span>
          <Button
            aria-label={text.variables.makeOne(escapeInvisible(name))}
            onPress={() => onOpen({ edit: null, name: name.replaceAll('_', ' ') })}
          >
            {text.variables.make}
          </Button>
        </div>
      ))}
    </div>
  );
}
