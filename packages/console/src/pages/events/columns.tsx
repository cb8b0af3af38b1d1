import { useState } from 'react';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { SuggestionList } from '../../frame/suggestions.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { formatPropertyName } from '../../parts/properties.ts';
import { words } from '../../words.ts';
import { useDefinitionNames } from './filters.tsx';
import { text } from './words.ts';

/** A dialog for choosing which properties the list shows as columns. The URL contains their names and order. */
export function ColumnsDialog({
  columns,
  onColumns,
  onClose,
}: {
  columns: readonly string[];
  onColumns: (columns: readonly string[]) => void;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState('');
  const names = useDefinitionNames('property_definitions', typed, true, 'event');
  const add = () => {
    if (typed.trim() === '') return;
    onColumns([...new Set([...columns, typed.trim()])]);
    setTyped('');
  };
  return (
    <Dialog title={text.columnsTitle} onClose={onClose}>
      <p className="quiet">{text.columnsText}</p>
      <ul className="columns">
        {columns.length === 0 && <li className="quiet">{text.noColumns}</li>}
        {columns.map((name) => (
          <li key={name} className="chip">
            <span className="cut" title={escapeInvisible(name)}>
              {escapeInvisible(formatPropertyName(name))}
            </span>
            <button
              type="button"
              className="chip-remove"
              aria-label={words.remove(formatPropertyName(name))}
              onClick={() => onColumns(columns.filter((other) => other !== name))}
            >
              <Icon name="close" size={10} />
            </button>
          </li>
        ))}
      </ul>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <label className="field">
          <span className="field-label">{text.columnName}</span>
          <input
            className="input mono"
            list="column-names"
            value={typed}
            maxLength={400}
            onChange={({ target }) => setTyped(target.value)}
          />
        </label>
        <SuggestionList id="column-names" names={names} />
        <div className="form-buttons">
          <Button type="submit" look="main" isDisabled={typed.trim() === ''}>
            {text.addColumn}
          </Button>
          <Button onPress={onClose}>{words.close}</Button>
        </div>
      </form>
    </Dialog>
  );
}
