import { useId, useState } from 'react';
import { type Fields, fieldsOf, isFields } from '../../answers/question.ts';
import { visible } from '../../event-detail/json-text.ts';
import { Choices, useSuggestions } from '../../frame/suggestions.tsx';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { words } from '../../words.ts';
import { Name, Part, type PartProps, Select, textOf } from './fields.tsx';
import { text } from './words.ts';

/** Which events count: conditions on properties, and internal users. */
export function Filters({ question, problem, change }: PartProps) {
  const [isAdding, setAdding] = useState(false);
  const given = question.properties;
  const filters = Array.isArray(given) ? given : isFields(given) ? [given] : [];
  return (
    <Part title={text.onlyWhere} fields={['properties', 'filterTestAccounts']} problem={problem}>
      {filters.map((one, at) => {
        const line = lineOf(one);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a filter is known by its place
          <div key={at} className="insight-line">
            <span className="grow cut">{line}</span>
            <Button
              look="plain"
              aria-label={words.remove(line)}
              onPress={() => change({ properties: filters.filter((_, other) => other !== at) })}
            >
              <Icon name="close" size={11} />
            </Button>
          </div>
        );
      })}
      {isAdding ? (
        <FilterFields
          onFilter={(filter) => {
            setAdding(false);
            change({ properties: [...filters, filter] });
          }}
          onClose={() => setAdding(false)}
        />
      ) : (
        <span>
          <Button onPress={() => setAdding(true)}>{text.addFilter}</Button>
        </span>
      )}
      <label className="insight-check">
        <input
          type="checkbox"
          checked={question.filterTestAccounts === true}
          onChange={({ target }) => change({ filterTestAccounts: target.checked || undefined })}
        />
        {text.testAccounts}
      </label>
    </Part>
  );
}

function lineOf(filter: unknown): string {
  const { key, operator, value, type } = fieldsOf(filter);
  if (typeof key !== 'string') return text.otherFilter;
  const whose = type === 'person' ? `${text.filterOf.person} · ` : '';
  const relation = text.relations[textOf(operator) || 'exact'] ?? textOf(operator);
  const shown = Array.isArray(value) ? value.join(', ') : value === undefined || value === null ? '' : String(value);
  return visible(text.filterLine(whose + key, relation, shown)).slice(0, 200);
}

function FilterFields({ onFilter, onClose }: { onFilter: (filter: Fields) => void; onClose: () => void }) {
  const [type, setType] = useState<'event' | 'person'>('event');
  const [key, setKey] = useState('');
  const [operator, setOperator] = useState('exact');
  const [value, setValue] = useState('');
  const values = useId();
  const known = useSuggestions(
    type === 'person' ? 'persons/values' : 'events/values',
    { key: key.trim() },
    { isNeeded: key.trim() !== '', items: (found: { name: string }[]) => found.map(({ name }) => name) },
  );
  const needsValue = !operator.endsWith('_set');
  const isComplete = key.trim() !== '' && (!needsValue || value !== '');
  return (
    <div className="insight-filter">
      <div className="insight-line">
        <Select
          label={text.filterType}
          value={type}
          options={text.filterOf}
          onChoose={(chosen) => setType(chosen as typeof type)}
        />
        <Name label={text.filterKey} hint={text.filterKey} of={type} value={key} onName={setKey} />
      </div>
      <div className="insight-line">
        <Select label={text.filterRelation} value={operator} options={text.relations} onChoose={setOperator} />
        {needsValue && (
          <input
            className="input grow mono"
            aria-label={text.filterValue}
            placeholder={text.filterValue}
            list={values}
            value={value}
            onChange={({ target }) => setValue(target.value)}
          />
        )}
        <Choices id={values} names={known} />
      </div>
      <div className="form-buttons">
        <Button
          isDisabled={!isComplete}
          onPress={() => onFilter({ type, key: key.trim(), operator, value: needsValue ? value : operator })}
        >
          {text.addFilter}
        </Button>
        <Button look="plain" onPress={onClose}>
          {words.cancel}
        </Button>
      </div>
    </div>
  );
}
