import { formatCsv } from '@millrace/contracts/csv';
import { toResultTable } from '@millrace/contracts/result-table';
import { useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Menu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { Icon } from '../parts/icon.tsx';
import { saveCsv, saveFile } from '../parts/save-file.ts';
import { text } from './words.ts';

/**
 * A menu for downloading a result's numbers, and an image of its chart.
 * @param image a function that draws the chart; undefined if the result is not a chart over time
 */
export function ExportMenu({
  results,
  columns,
  image,
}: {
  results: unknown;
  columns: readonly string[] | undefined;
  image: (() => Promise<Blob>) | undefined;
}) {
  const [note, setNote] = useState('');
  const act = async (key: string) => {
    const name = `insight-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}`;
    try {
      if (key === 'csv') {
        const table = toResultTable(results, columns);
        saveCsv(`${name}.csv`, formatCsv([table.columns, ...table.rows]));
      } else if (image) {
        if (key === 'png') saveFile(`${name}.png`, await image());
        else await navigator.clipboard.write([new ClipboardItem({ 'image/png': image() })]);
      }
      setNote(key === 'copy' ? text.imageCopied : '');
    } catch {
      setNote(text.exportFailed);
    }
  };
  return (
    <>
      <span className="hint" role="status">
        {note}
      </span>
      <MenuTrigger>
        <AriaButton className="button">
          {text.export}
          <Icon name="down" size={10} />
        </AriaButton>
        <Popover placement="bottom end">
          <Menu className="menu" aria-label={text.export} onAction={(key) => void act(String(key))}>
            <MenuItem className="menu-item" id="csv">
              {text.exportCsv}
            </MenuItem>
            {image && (
              <MenuItem className="menu-item" id="png">
                {text.exportImage}
              </MenuItem>
            )}
            {image && (
              <MenuItem className="menu-item" id="copy">
                {text.copyImage}
              </MenuItem>
            )}
          </Menu>
        </Popover>
      </MenuTrigger>
    </>
  );
}
