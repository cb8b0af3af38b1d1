import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { LabelledInput, readForm } from '../../parts/form.tsx';
import { type InsightQuery, toFields } from '../../results/insight-query.ts';
import { words } from '../../words.ts';
import { toText } from './fields.tsx';
import { text } from './words.ts';

const named = {
  prefix: 'aggregationAxisPrefix',
  postfix: 'aggregationAxisPostfix',
  decimals: 'decimalPlaces',
} as const;

/** A dialog for a trend's unit, and for whether an increase is good. Both are stored in the query. */
export function NumberFormatButton({
  insightQuery,
  onQuery,
}: {
  insightQuery: InsightQuery;
  onQuery: (insightQuery: InsightQuery) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const filter = toFields(insightQuery.trendsFilter);
  const close = () => setOpen(false);
  const apply = (fields: Record<string, string>) => {
    const { aggregationAxisFormat, aggregationAxisPrefix, aggregationAxisPostfix, decimalPlaces, ...more } = filter;
    const { isIncreaseBad: _, ...others } = more;
    const { format = 'numeric', prefix = '', postfix = '', decimals = '', isIncreaseBad } = fields;
    onQuery({
      ...insightQuery,
      trendsFilter: {
        ...others,
        ...(format !== 'numeric' && { aggregationAxisFormat: format }),
        ...(prefix !== '' && { aggregationAxisPrefix: prefix }),
        ...(postfix !== '' && { aggregationAxisPostfix: postfix }),
        ...(decimals !== '' && { decimalPlaces: Number(decimals) }),
        ...(isIncreaseBad !== undefined && { isIncreaseBad: true }),
      },
    });
    close();
  };
  return (
    <>
      <Button onPress={() => setOpen(true)}>{text.numberFormat}</Button>
      {isOpen && (
        <Dialog title={text.numberFormat} onClose={close}>
          <form className="form" onSubmit={(event) => apply(readForm(event) as Record<string, string>)}>
            <label className="field">
              <span className="field-label">{text.unitOfNumbers}</span>
              <select className="input" name="format" defaultValue={toText(filter.aggregationAxisFormat) || 'numeric'}>
                {Object.entries(text.numberFormats).map(([format, name]) => (
                  <option key={format} value={format}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
            {(['prefix', 'postfix'] as const).map((name) => (
              <LabelledInput
                key={name}
                className="input"
                name={name}
                label={text.formatFields[name]}
                hint={text.formatHints[name]}
                maxLength={20}
                defaultValue={toText(filter[named[name]])}
                wrong={null}
              />
            ))}
            <LabelledInput
              className="input"
              name="decimals"
              type="number"
              min={0}
              max={10}
              label={text.formatFields.decimals}
              hint={text.formatHints.decimals}
              defaultValue={typeof filter.decimalPlaces === 'number' ? String(filter.decimalPlaces) : ''}
              wrong={null}
            />
            <label>
              <input type="checkbox" name="isIncreaseBad" defaultChecked={filter.isIncreaseBad === true} />{' '}
              {text.isIncreaseBad}
            </label>
            <div className="form-buttons">
              <Button look="main" type="submit">
                {text.applyFormat}
              </Button>
              <Button onPress={close}>{words.cancel}</Button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}
